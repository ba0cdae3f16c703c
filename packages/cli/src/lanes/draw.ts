import type { Cell, LaneRow } from './layout.ts'

/**
 * The lanes as text, one line a row, all equally wide. `marks` are the steps' shapes, one column each, painted or not. A line that crosses a lane
 * without a junction does not come from it.
 */
export function drawLanes(
  rows: readonly LaneRow[],
  marks: readonly string[],
  { ascii = false }: { readonly ascii?: boolean } = {},
): readonly string[] {
  const lanes = Math.max(0, ...rows.map((row) => row.length))
  return rows.map((row, index) => {
    const text = row.map((cell, lane) => {
      const drawn = cell.kind === 'step' ? marks[index]! : lineOf(cell, ascii)
      return lane === row.length - 1 ? drawn : drawn + (cell.right ? (ascii ? '-' : '─') : ' ')
    })
    return text.join('') + '  '.repeat(lanes - row.length)
  })
}

function lineOf({ kind, left, right }: Cell, ascii: boolean): string {
  if (kind === 'empty') return left && right ? (ascii ? '-' : '─') : ' '
  if (kind === 'passes') return ascii ? '|' : '│'
  if (ascii) return '+'
  if (left && right) return kind === 'joins' ? '┼' : '┴'
  // A step takes the leftmost of the lanes that end in it: none ends on its left.
  if (left) return kind === 'joins' ? '┤' : '┘'
  return '├'
}
