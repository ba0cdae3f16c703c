import {
  type GlyphState,
  glyph,
  glyphOf,
  type RunStatus,
  type StepStatus,
  stateClass,
} from '@belay/graph-view'
import type { ComponentChildren } from 'preact'
import { elementOf } from './drawn.tsx'
import { wordOf } from './status.ts'

/** The shape of a state. Its word stands beside it, or is its label. */
export function Glyph({ state, label }: { readonly state: GlyphState; readonly label?: string }) {
  const drawn = elementOf(glyph(state))
  return label === undefined ? (
    <svg class="glyph" viewBox="0 0 14 14" aria-hidden="true">
      {drawn}
    </svg>
  ) : (
    <svg class="glyph" viewBox="0 0 14 14" role="img" aria-label={label}>
      {drawn}
    </svg>
  )
}

/** Shape and word. */
export function Status({ status }: { readonly status: RunStatus | StepStatus }) {
  return <State state={glyphOf(status)}>{wordOf(status)}</State>
}

/** Shape and other words. */
export function State({
  state,
  children,
}: {
  readonly state: GlyphState
  readonly children: ComponentChildren
}) {
  return (
    <span class={`status ${stateClass(state)}`}>
      <Glyph state={state} />
      {children}
    </span>
  )
}
