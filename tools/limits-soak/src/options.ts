import { parseArgs } from 'node:util'

export interface SoakOptions {
  readonly seed: number
  readonly runs: number
  readonly keys: number
  readonly workers: number
  /** No more faults than this; they also end when the runs have ended. */
  readonly faultsMs: number
  /** The mean time between two faults. */
  readonly faultEveryMs: number
}

/** An option is invalid; the message says what is accepted. */
export class OptionError extends Error {}

export const HELP = `Runs worker processes under concurrency limits and rate limits while they are killed (SIGKILL) and frozen (SIGSTOP), and counts by the
database's clock how many handlers ran at once, and how many began in each second. Every limit must hold, every run must end, no slot may be lost.

  npm run limits:soak                    20,000 runs over 500 keys, four workers
  npm run limits:soak -- --quick         1,000 runs over 50 keys
  npm run limits:soak -- --seed 7        the same choices again; what they meet differs, since time is real

  --runs N       runs in all; a quarter of them have one key
  --keys N       keys over which the others are spread evenly
  --workers N    worker processes; default 4
  --every MS     the mean time between two faults, in milliseconds; default 1500
  --faults S     no faults after this many seconds; default 600
  --help

Exits with 1 when something broke, and says what. Linux only.`

const OPTIONS = {
  seed: { type: 'string' },
  runs: { type: 'string' },
  keys: { type: 'string' },
  workers: { type: 'string' },
  every: { type: 'string' },
  faults: { type: 'string' },
  quick: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Reads the command line. Returns `'help'` if help was asked for. Throws {@link OptionError}. */
export function readOptions(args: readonly string[]): SoakOptions | 'help' {
  const values = parsed(args)
  if (values.help === true) return 'help'
  const quick = values.quick === true
  return {
    seed: numberOf('seed', values.seed, 0, 2 ** 31) ?? Math.floor(Math.random() * 2 ** 31),
    runs: numberOf('runs', values.runs, 100, 1_000_000) ?? (quick ? 1_000 : 20_000),
    keys: numberOf('keys', values.keys, 2, 100_000) ?? (quick ? 50 : 500),
    workers: numberOf('workers', values.workers, 2, 16) ?? 4,
    faultsMs: (numberOf('faults', values.faults, 0, 86_400) ?? 600) * 1_000,
    faultEveryMs: numberOf('every', values.every, 100, 60_000) ?? 1_500,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    throw new OptionError(
      `${error instanceof Error ? error.message : error} See npm run limits:soak -- --help.`,
    )
  }
}

function numberOf(name: string, text: string | undefined, low: number, high: number): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && Number.isInteger(value) && value >= low && value <= high) return value
  throw new OptionError(`--${name} must be a whole number from ${low} to ${high}; got "${text}".`)
}
