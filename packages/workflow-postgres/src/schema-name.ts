import { BelayError } from '@belay/workflow/adapter'

// Postgres cuts longer names off silently, and reserves those that start with pg_.
const ALLOWED = /^(?!pg_)[A-Za-z_][A-Za-z0-9_-]{0,62}$/

/** Checks the name of the Postgres schema that is to hold Belay's tables. Throws `invalid_option`. */
export function checkSchemaName(name: string): string {
  if (typeof name === 'string' && ALLOWED.test(name)) return name
  throw new BelayError(
    'invalid_option',
    `schema is ${JSON.stringify(name)}, which cannot name Belay's Postgres schema. Use at most 63 letters, digits, "_" and "-", starting with a letter or "_" and not with "pg_".`,
  )
}

/** The only place where a name becomes part of a statement's text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
