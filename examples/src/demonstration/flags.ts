import { isAbsolute, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const PARTS = ['order', 'import', 'csv', 'media'] as const
export type PartName = (typeof PARTS)[number]

const NAMES = new Intl.ListFormat('en', { type: 'disjunction' }).format(PARTS)

export interface Flags {
  readonly help: boolean
  readonly only: PartName | undefined
  readonly fresh: boolean
  /** The folder of the embedded database. */
  readonly folder: string
  /** How long each service of the shop, and storing a picture, takes. */
  readonly paceMs: number
}

export const HELP = `Usage: npm start -- [options]

Runs four demonstrations, one after the other, and checks what they promise:
  order    an order in six steps: once with success, once with a failing step and its undo
  import   135,233 cities loaded by parallel steps: once completely, once with a damaged chunk and its undo
  csv      a CSV file with bad rows: once the good ones are loaded, once all or nothing
  media    a gallery: eight photographs in four sizes, once published, once with every file removed again

Options:
  --only <name>     run one of them: ${NAMES}
  --fresh           delete the embedded database first
  --folder <path>   folder of the embedded database (default: .belay/database in the repository);
                    other files are beside it
  --pace <ms>       how long each service of the shop, and storing a picture, takes (default: 350)
  --help            show this

The database is embedded (PGlite), or the PostgreSQL that DATABASE_URL names.
Stop it at any moment, with Ctrl-C or kill -9, and start it again: it continues where it stopped.`

/** The command line is wrong. The message says what is wrong, and what is right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reads the command line. Throws {@link UsageError}. */
export function readFlags(argv: readonly string[], defaultFolder: string): Flags {
  const values = parse(argv)
  const { only, folder } = values
  if (only !== undefined && !isPart(only)) {
    throw new UsageError(`--only takes ${NAMES}, got "${only}".`)
  }
  if (folder === '') throw new UsageError('--folder takes a path, got nothing.')
  return {
    help: values.help ?? false,
    only,
    fresh: values.fresh ?? false,
    folder: folder === undefined ? defaultFolder : isAbsolute(folder) ? folder : resolve(folder),
    paceMs: readPace(values.pace ?? '350'),
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        help: { type: 'boolean', short: 'h' },
        only: { type: 'string' },
        fresh: { type: 'boolean' },
        folder: { type: 'string' },
        pace: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message.split('. To specify')[0]! : String(error))
  }
}

function isPart(text: string): text is PartName {
  return PARTS.some((part) => part === text)
}

function readPace(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text)
  throw new UsageError(`--pace takes whole milliseconds from 0 to 99999, got "${text}".`)
}
