import type { LogFields, Logger } from '../logger.ts'
import { checkArgument, checkOptions, having, type OptionTable, oneOf } from '../options/index.ts'
import { isErrorOfAnyRealm } from '../thrown.ts'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export interface JsonLoggerOptions {
  /** The least level that is written. Default `'info'`. */
  readonly level?: (typeof LEVELS)[number]
}

const OPTIONS = {
  level: { sets: 'the least level that is written', takes: oneOf(LEVELS), default: 'info' },
} satisfies OptionTable

/**
 * A logger that writes one line of JSON for each message: `time` (ISO 8601), `level`, `message` and the fields. Errors are written with name,
 * message, code, stack and causes. Goes through `console.debug`, `.info`, `.warn` and `.error`.
 *
 * @throws BelayError `invalid_option`.
 */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const { level: least } = checkOptions('jsonLogger()', options, OPTIONS)
  const write = (level: (typeof LEVELS)[number]) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return () => {}
    return (message: string, fields: LogFields = {}) =>
      console[level](line({ time: new Date().toISOString(), level, message, ...fields }))
  }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** Handlers log what they like: what has no JSON form must not fail them. */
function line(entry: LogFields): string {
  try {
    return JSON.stringify(entry, (_, value: unknown) =>
      isErrorOfAnyRealm(value) ? plain(value) : writable(value),
    )
  } catch {
    return JSON.stringify({ time: entry['time'], level: entry['level'], message: entry['message'] })
  }
}

function plain(error: object): LogFields {
  const { name, message, code, stack, cause, errors } = error as LogFields
  return { name, message, code, stack, cause, errors }
}

function writable(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

const PINO = having<PinoLike>('a pino logger', ['debug', 'info', 'warn', 'error'])

/** What is used of a pino logger: its methods take the fields first. */
export interface PinoLike {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * Makes a logger of pino's. `createEngine()` does it for a pino logger that it is given. The field `error` becomes `err`, which pino writes with its
 * stack.
 *
 * @throws BelayError `invalid_option` for anything without these methods.
 */
export function pinoLogger(pino: PinoLike): Logger {
  checkArgument('pinoLogger()', 'the logger', pino, PINO)
  const write =
    (level: (typeof LEVELS)[number]) =>
    (message: string, { error, ...fields }: LogFields = {}) =>
      pino[level](error === undefined ? fields : { ...fields, err: error }, message)
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

/** Whether this is one of pino's own: as a `Logger` it would lose all fields. */
export function isPino(logger: object): logger is PinoLike {
  return 'bindings' in logger && 'levels' in logger && 'child' in logger
}
