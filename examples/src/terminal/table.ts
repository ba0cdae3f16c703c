/** Lines of a table as `psql` draws it. Numbers are right-aligned. */
export function table<Row extends object>(rows: readonly Row[], indent = '  '): readonly string[] {
  const columns = Object.keys(rows[0] ?? {}) as (keyof Row & string)[]
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => show(row[column]).length)),
  )
  const line = (cells: readonly string[]) => `${indent}${cells.join(' | ')}`.trimEnd()
  return [
    line(columns.map((column, index) => column.padEnd(widths[index]!))),
    `${indent}${widths.map((width) => '-'.repeat(width)).join('-+-')}`,
    ...rows.map((row) => line(columns.map((column, index) => align(row[column], widths[index]!)))),
  ]
}

function align(value: unknown, width: number): string {
  return typeof value === 'number' ? show(value).padStart(width) : show(value).padEnd(width)
}

function show(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
