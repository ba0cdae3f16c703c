import type { Column } from './output.ts'
import { safe } from './text.ts'

/** Columns with the names and values of the API: hidden on a screen, all of what `--json` gives. */
export function fieldColumns<Row>(fields: readonly (keyof Row & string)[]): readonly Column<Row>[] {
  return fields.map((field) => ({
    field,
    hidden: true,
    shown: (row) => textOf(row[field]),
    value: (row) => row[field],
  }))
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (value instanceof Date) return value.toISOString()
  return safe(typeof value === 'string' ? value : JSON.stringify(value))
}
