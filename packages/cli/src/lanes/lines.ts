import type { StepLine } from '../runs/step-details.ts'
import type { Output } from '../terminal/output.ts'
import { cut, pad, safe, width } from '../terminal/text.ts'
import { drawLanes } from './draw.ts'
import { layoutLanes } from './layout.ts'

const NAME_MAX = 32

/** Steps as lines: lanes with their marks, names, words and details, in columns. Graphs that are too wide for lanes have a column `after` instead. */
export function laneLines(out: Output, steps: readonly StepLine[]): readonly string[] {
  const marks = steps.map(({ mark }) => out.shape(mark))
  const rows = layoutLanes(steps)
  const lanes = rows === undefined ? marks : drawLanes(rows, marks, { ascii: out.isAscii })
  const columns = [
    lanes,
    steps.map(({ name }) => cut(safe(name), NAME_MAX)),
    steps.map(({ word }) => word),
    ...(rows === undefined ? [steps.map(afterOf)] : []),
  ]
  const widths = columns.map((cells) => Math.max(...cells.map(width)))
  return steps.map(({ detail }, index) => {
    const start = `  ${columns.map((cells, column) => pad(cells[index]!, widths[column]!)).join('  ')}`
    const room = out.columns - width(start) - 2
    return (room < 4 || detail === '' ? start : `${start}  ${cut(detail, room)}`).trimEnd()
  })
}

/** Two of the steps before it, and how many more there are. */
function afterOf({ dependsOn }: StepLine): string {
  if (dependsOn.length === 0) return ''
  const more = dependsOn.length > 2 ? ` +${dependsOn.length - 2}` : ''
  return `after ${dependsOn
    .slice(0, 2)
    .map((name) => cut(safe(name), 12))
    .join(', ')}${more}`
}
