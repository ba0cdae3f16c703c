import type { RunStatus, StepStatus } from '@belay/graph-view'
import type { JSX } from 'preact'
import { type State, stateOf, wordOf } from './status.ts'

// Stands in for the glyphs of graph-view until they are there.
const SHAPES: Readonly<Record<State, JSX.Element>> = {
  pending: <circle cx="7" cy="7" r="2" class="full" />,
  scheduled: <path class="thin" d="M1.6 7a5.4 5.4 0 1 0 10.8 0a5.4 5.4 0 1 0-10.8 0M7 4v3.2l2 1.3" />,
  ready: <circle cx="7" cy="7" r="5" class="thick" />,
  running: <path class="full" d="M7 .5a6.5 6.5 0 1 0 .01 0zM5.3 3.9V10.1L10 7z" />,
  waiting: (
    <path
      class="full"
      d="M.7 7a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0M5.3 7a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0M9.9 7a1.7 1.7 0 1 0 3.4 0a1.7 1.7 0 1 0-3.4 0"
    />
  ),
  completed: <path class="thick" d="M2 7.4l3.3 3.3L12 3.6" />,
  skipped: <path class="thick dashed" d="M2.5 7h9" />,
  failed: (
    <>
      <rect class="full" x="1" y="1" width="12" height="12" rx="2.5" />
      <path class="cut" d="M4.4 4.4l5.2 5.2m0-5.2L4.4 9.6" />
    </>
  ),
  undoing: <path class="full" d="M7 .5a6.5 6.5 0 1 0 .01 0zM8.7 3.9V10.1L4 7z" />,
  undone: <path class="thick" d="M4.6 2.2L1.8 5l2.8 2.8M2 5h6.2a3.4 3.4 0 0 1 0 6.8H4.5" />,
  parked: (
    <>
      <path class="full" d="M7 .2L13.8 7 7 13.8.2 7z" />
      <path class="cut" d="M7 3.6v4M7 9.2v1.6" />
    </>
  ),
  paused: <path class="thicker" d="M4.3 2.2v9.6M9.7 2.2v9.6" />,
  cancelled: <path class="thin" d="M1.6 7a5.4 5.4 0 1 0 10.8 0a5.4 5.4 0 1 0-10.8 0M3.3 10.7l7.4-7.4" />,
}

/** The shape of a state. Its word stands beside it, or is its label. */
export function Glyph({ state, label }: { readonly state: State; readonly label?: string }) {
  const looks = `glyph s-${state}`
  return label === undefined ? (
    <svg class={looks} viewBox="0 0 14 14" aria-hidden="true">
      {SHAPES[state]}
    </svg>
  ) : (
    <svg class={looks} viewBox="0 0 14 14" role="img" aria-label={label}>
      {SHAPES[state]}
    </svg>
  )
}

/** Shape and word. */
export function Status({ status }: { readonly status: RunStatus | StepStatus }) {
  const state = stateOf(status)
  return (
    <span class={`status s-${state}`}>
      <Glyph state={state} />
      {wordOf(status)}
    </span>
  )
}
