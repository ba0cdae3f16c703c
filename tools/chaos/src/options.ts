import { parseArgs } from 'node:util'
import { FAULT_CLASSES, type FaultClass } from './faults/fault.ts'

export interface ChaosOptions {
  readonly seed: number
  /** How long faults happen, in milliseconds. */
  readonly faultsMs: number
  readonly restMs: number
  readonly classes: readonly FaultClass[]
  readonly intensity: number
  readonly workers: number
  readonly startsPerSecond: number
  readonly out: string | undefined
  readonly timelineMax: number
}

/** An option is invalid; the message says what is accepted. */
export class OptionError extends Error {}

export const HELP = `Runs worker processes on a real PostgreSQL while processes, the server, the network and pools misbehave at random, and checks
that nothing is lost, nothing is doubled, and everything comes to rest. The runs' workflows use all kinds of steps; operators pause, cancel,
retry, skip and hurry. A feature that no run has met is a failure too.

Flow control is a part of the load: limits of steps and of runs, in total and by key; a rate, by the clock of the database; debounced, throttled
and batched calls, each of them in exactly one run; schedules, one of which leaves no second out, while an operator triggers, pauses and
backfills the others. At the end no slot, no place in a line and no key of a limit is left.

  npm run chaos                       three minutes of everything
  npm run chaos -- --minutes 60       for longer
  npm run chaos -- --quick            about a minute in all, as CI runs it
  npm run chaos -- --only kill,lock   faults of these classes only: ${FAULT_CLASSES.join(', ')}
  npm run chaos -- --seed 7           the same choices again; what they meet differs, since time is real

  --intensity X    faults per time, 1 by default: about forty a minute, at most four at once
  --starts N       runs started per second; default 5, with --quick 3
  --workers N      worker processes; default 4, the last of them on a Pool of the application's
  --timeline N     lines of the timeline that are printed when something broke; default 60
  --out FILE       also writes the report there, as JSON
  --help

Exits with 1 when something broke, and says what, with the seed and the timeline of faults. Linux only.`

const OPTIONS = {
  seed: { type: 'string' },
  minutes: { type: 'string' },
  quick: { type: 'boolean' },
  only: { type: 'string' },
  intensity: { type: 'string' },
  workers: { type: 'string' },
  starts: { type: 'string' },
  timeline: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const QUICK_MS = 28_000
const MINUTES = 3

/** Reads the command line. Returns `'help'` if help was asked for. Throws {@link OptionError}. */
export function readOptions(args: readonly string[]): ChaosOptions | 'help' {
  const values = parsed(args)
  if (values.help === true) return 'help'
  const quick = values.quick === true
  const minutes = numberOf('minutes', values.minutes, { low: 0.1, high: 24 * 60 })
  return {
    seed: numberOf('seed', values.seed, { low: 0, high: 2 ** 31 }) ?? Math.floor(Math.random() * 2 ** 31),
    faultsMs: minutes === undefined ? (quick ? QUICK_MS : MINUTES * 60_000) : minutes * 60_000,
    restMs: 60_000,
    classes: classesOf(values.only),
    intensity: numberOf('intensity', values.intensity, { low: 0.1, high: 10 }) ?? 1,
    workers: numberOf('workers', values.workers, { low: 2, high: 16 }) ?? (quick ? 3 : 4),
    startsPerSecond: numberOf('starts', values.starts, { low: 1, high: 200 }) ?? (quick ? 3 : 5),
    timelineMax: numberOf('timeline', values.timeline, { low: 1, high: 100_000 }) ?? 60,
    out: values.out,
  }
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    throw new OptionError(`${error instanceof Error ? error.message : error} See npm run chaos -- --help.`)
  }
}

function classesOf(text: string | undefined): readonly FaultClass[] {
  if (text === undefined) return FAULT_CLASSES
  return text.split(',').map((name) => {
    const known = FAULT_CLASSES.find((candidate) => candidate === name.trim())
    if (known !== undefined) return known
    throw new OptionError(
      `There are no faults of the class "${name}". There are: ${FAULT_CLASSES.join(', ')}.`,
    )
  })
}

function numberOf(
  name: string,
  text: string | undefined,
  { low, high }: { readonly low: number; readonly high: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && value >= low && value <= high) return value
  throw new OptionError(`--${name} must be a number from ${low} to ${high}; got "${text}".`)
}
