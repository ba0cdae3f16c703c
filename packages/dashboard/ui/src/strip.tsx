import type { JSX } from 'preact'
import type { ListedStep } from '../../src/api.ts'
import { stateOf } from './status.ts'

const WIDTH = 140
const GAP = 2

/** The steps of a run in one line: forward above, undo beneath. Stands in for `drawStrip` of graph-view until it is there. */
export function Strip({ steps, quiet }: { readonly steps: readonly ListedStep[]; readonly quiet: boolean }) {
  const weight = ({ items }: ListedStep) => (items ? 2.4 : 1)
  const total = steps.reduce((sum, step) => sum + weight(step), 0)
  const unit = Math.max(1, (WIDTH - GAP * (steps.length - 1)) / Math.max(1, total))
  const undoes = steps.some(({ status }) => isUndo(status))
  let x = 0
  const cells = steps.map((step) => {
    const width = weight(step) * unit
    const left = x
    x += width + GAP
    return <Cell key={step.name} step={step} x={left} width={width} undoes={undoes} quiet={quiet} />
  })
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${Math.max(WIDTH, x)} 16`}
      width={WIDTH}
      height={16}
      role="img"
      aria-label={labelOf(steps)}
    >
      {cells}
    </svg>
  )
}

interface CellProps {
  readonly step: ListedStep
  readonly x: number
  readonly width: number
  readonly undoes: boolean
  readonly quiet: boolean
}

function Cell({ step, x, width, undoes, quiet }: CellProps): JSX.Element {
  const y = undoes ? 1 : quiet ? 6 : 4
  const height = undoes ? 7 : quiet ? 4 : 8
  const forward = isUndo(step.status) ? 'completed' : stateOf(step.status)
  const thin = forward === 'pending' || forward === 'cancelled' || forward === 'skipped'
  const share = step.items && forward === 'running' ? step.items.ended / Math.max(1, step.items.total) : 1
  return (
    <g>
      {(thin || share < 1) && <rect class="faint" x={x} y={y + height / 2 - 1} width={width} height={2} />}
      {!thin && (
        <rect
          class={`cell s-${share < 1 ? 'completed' : forward}${quiet ? ' pale' : ''}`}
          x={x}
          y={y}
          width={Math.max(0.5, width * share)}
          height={height}
          rx={1}
        />
      )}
      {undoes && isUndo(step.status) && (
        <rect
          class={`cell s-${stateOf(step.status)}${quiet ? ' pale' : ''}`}
          x={x}
          y={10.5}
          width={width}
          height={4}
          rx={1}
        />
      )}
    </g>
  )
}

function isUndo(status: ListedStep['status']): boolean {
  return status === 'compensating' || status === 'compensated' || status === 'compensation_failed'
}

function labelOf(steps: readonly ListedStep[]): string {
  const count = (...statuses: readonly string[]) =>
    steps.filter(({ status }) => statuses.includes(status)).length
  const undone = count('compensated')
  const done = `${count('completed') + undone + count('compensating', 'compensation_failed')} of ${steps.length} steps completed`
  return undone === 0 ? done : `${done}; ${undone} undone`
}
