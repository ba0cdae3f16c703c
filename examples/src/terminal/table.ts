import { cut, widthOf } from './fitting.ts'

const INDENT = '  '
const SEPARATOR_COLUMNS = 3
/** No cell becomes narrower: what is cut further says nothing. */
const CELL_MIN = 4
const LAST_CELL_MIN = 8

/**
 * Lines of a table as `psql` draws it. Numbers are right-aligned. If it is too wide, cells are cut: first those of the last column, then the widest.
 * If the last column then has no room at all, a line says so.
 */
export function table<Row extends object>(
  rows: readonly Row[],
  columnsMax = Number.POSITIVE_INFINITY,
): readonly string[] {
  const all = Object.keys(rows[0] ?? {}) as (keyof Row & string)[]
  const wanted = all.map((column) =>
    Math.max(widthOf(column), ...rows.map((row) => widthOf(show(row[column])))),
  )
  const widths = fittingWidths(wanted, columnsMax - INDENT.length)
  const columns = all.slice(0, widths.length)
  const line = (cells: readonly string[]) => `${INDENT}${cells.join(' | ')}`.trimEnd()
  return [
    line(columns.map((column, index) => align(column, widths[index]!))),
    `${INDENT}${widths.map((width) => '-'.repeat(width)).join('-+-')}`,
    ...rows.map((row) => line(columns.map((column, index) => align(row[column], widths[index]!)))),
    ...all.slice(widths.length).map((column) => `${INDENT}(no room for ${column})`),
  ]
}

function fittingWidths(wanted: readonly number[], columnsMax: number): readonly number[] {
  const over = wanted.reduce((sum, width) => sum + width + SEPARATOR_COLUMNS, -SEPARATOR_COLUMNS) - columnsMax
  if (over <= 0) return wanted
  const rest = wanted.slice(0, -1)
  const last = wanted.at(-1)! - over
  if (last >= LAST_CELL_MIN || rest.length === 0) return [...rest, Math.max(LAST_CELL_MIN, last)]
  return narrowed(rest, columnsMax)
}

/** Makes the widest column narrower until all fit. */
function narrowed(wanted: readonly number[], columnsMax: number): readonly number[] {
  const widths = [...wanted]
  const sumMax = columnsMax - SEPARATOR_COLUMNS * (widths.length - 1)
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
