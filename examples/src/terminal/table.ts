import { cut, widthOf } from './fitting.ts'

const INDENT = '  '
const SEPARATOR_COLUMNS = 3
/** No cell becomes narrower: what is cut further says nothing. */
const CELL_MIN = 4

/** Lines of a table as `psql` draws it. Numbers are right-aligned. If it is too wide, its widest cells are cut. */
export function table<Row extends object>(
  rows: readonly Row[],
  columnsMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const columns = Object.keys(rows[0] ?? {}) as (keyof Row & string)[]
  const wanted = columns.map((column) =>
    Math.max(widthOf(column), ...rows.map((row) => widthOf(show(row[column])))),
  )
  const widths = shrunk(wanted, columnsMax - INDENT.length - SEPARATOR_COLUMNS * (columns.length - 1))
  const line = (cells: readonly string[]) => cut(`${INDENT}${cells.join(' | ')}`.trimEnd(), columnsMax)
  return [
    line(columns.map((column, index) => align(column, widths[index]!))),
    line([widths.map((width) => '-'.repeat(width)).join('-+-')]),
    ...rows.map((row) => line(columns.map((column, index) => align(row[column], widths[index]!)))),
  ]
}

/** The widths with one column less of the widest, again and again, until their sum is small enough. */
function shrunk(wanted: readonly number[], sumMax: number): readonly number[] {
  const widths = [...wanted]
  for (let over = widths.reduce((sum, width) => sum + width, 0) - sumMax; over > 0; over -= 1) {
    const widest = Math.max(...widths)
    if (widest <= CELL_MIN) break
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return widths
}

function align(value: unknown, width: number): string {
  const text = cut(show(value), width)
  const spaces = ' '.repeat(Math.max(0, width - widthOf(text)))
  return typeof value === 'number' ? spaces + text : text + spaces
}

function show(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
