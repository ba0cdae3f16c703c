import { isAbsolute, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const PARTS = ['order', 'import', 'csv', 'media'] as const
export type PartName = (typeof PARTS)[number]

/** What can be shown; without a name the tour. */
const NAMES = [...PARTS, 'dashboard', 'waiting', 'all'] as const
type Name = (typeof NAMES)[number]

const NAMES_TEXT = new Intl.ListFormat('en', { type: 'disjunction' }).format(NAMES)

export interface Flags {
  readonly help: boolean
  readonly list: boolean
  readonly show: Name | 'tour'
  readonly fresh: boolean
  /** The folder of the embedded database. */
  readonly folder: string
  /** How long each service of the shop, and storing a picture, takes. */
  readonly paceMs: number
  /** Whether to show the rows as the tables have them. */
  readonly sql: boolean
}

export const HELP = `Usage: npm start -- [name] [options]

Without a name: a tour of about a minute. You see a workflow's code, an order
that two worker processes run while you kill one of them (press k), and an
order that fails and is undone backwards. Press q or Ctrl-C to leave.

With a name, an example, whose promises are checked at its end:
  order    the two orders of the tour, in one process
  import   135,233 cities loaded by parallel steps: once completely, once with
           a damaged chunk and its undo
  csv      a CSV file with bad rows: once the good ones are loaded, once all
           or nothing
  media    a gallery: eight photographs in four sizes, once published, once
           with every file removed again
  dashboard  a shop that goes on by itself, in a browser: watch a rollback run
           backwards
  waiting  how to run approvals and webhooks that take days
  all      order, import, csv and media, one after the other

Options:
  --list            list the examples
  --only <name>     the same as the name alone
  --sql             show the rows as the tables have them, too
  --fresh           delete the embedded database of the examples first
  --folder <path>   folder of that database (default: .belay/database in the
                    repository); other files are beside it
  --pace <ms>       how long each service of the shop, and storing a picture,
                    takes (default: 350). The tour's pages stand 26 times as
                    long, and its worker is killed after 12 times as long
  --help            show this

The tour starts a PostgreSQL from npm, and deletes it at its end. The examples
use an embedded database (PGlite). DATABASE_URL makes all of them use your
PostgreSQL. NO_COLOR and FORCE_COLOR are obeyed.
Stop an example at any moment, with Ctrl-C or kill -9, and start it again: it
continues where it stopped.`

/** The command line is wrong. The message says what is wrong, and what is right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reads the command line. Throws {@link UsageError}. */
export function readFlags(argv: readonly string[], defaultFolder: string): Flags {
  const { values, positionals } = parse(argv)
  const { folder } = values
  if (folder === '') throw new UsageError('--folder takes a path, got nothing.')
  return {
    help: values.help ?? false,
    list: values.list ?? false,
    show: readName(positionals, values.only),
    fresh: values.fresh ?? false,
    folder: folder === undefined ? defaultFolder : isAbsolute(folder) ? folder : resolve(folder),
    paceMs: readPace(values.pace ?? '350'),
    sql: values.sql ?? false,
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        list: { type: 'boolean' },
        only: { type: 'string' },
        fresh: { type: 'boolean' },
        folder: { type: 'string' },
        pace: { type: 'string' },
        sql: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.split('. To specify')[0]! : String(error))
  }
}

function readName(positionals: readonly string[], only: string | undefined): Flags['show'] {
  const names = [...positionals, ...(only === undefined ? [] : [only])]
  if (names.length > 1) throw new UsageError(`One name at most, got ${names.join(' and ')}.`)
  const [name] = names
  if (name === undefined) return 'tour'
  const known = NAMES.find((candidate) => candidate === name)
  if (known !== undefined) return known
  throw new UsageError(
    only === undefined
      ? `There is no example "${name}". There is ${NAMES_TEXT}.`
      : `--only takes ${NAMES_TEXT}, got "${name}".`,
  )
}

function readPace(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new UsageError(`--pace takes whole milliseconds from 0 to 99999, got "${text}".`)
}
