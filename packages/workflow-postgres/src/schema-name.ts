import { type Kind, Refusal, shown } from '@belay/workflow/adapter'

/** The default Postgres schema of Belay's tables. The migrations are written with this name. */
export const DEFAULT_SCHEMA = 'belay'

// Postgres truncates longer names silently, and reserves those that start with pg_.
const ALLOWED = /^(?!pg_)[A-Za-z_][A-Za-z0-9_-]{0,62}$/

/** The name of the Postgres schema for Belay's tables. */
export const schemaName: Kind<string> = {
  words:
    'a name for a Postgres schema: at most 63 letters, digits, "_" and "-", starting with a letter or "_" and not with "pg_"',
  read: (given) => (typeof given === 'string' && ALLOWED.test(given) ? given : new Refusal(shown(given))),
}

/** The only place where a name becomes part of a statement's text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
