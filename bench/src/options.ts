import { parseArgs } from 'node:util'
import { durationMs } from '@belay/workflow'
import { nearest } from './nearest.ts'

export interface BenchOptions {
  readonly quick: boolean
  /** Names of sections, in the order in which they run. */
  readonly sections: readonly string[]
  /** The directory for the report; undefined for standard output only. */
  readonly out: string | undefined
  /** Finished runs in the tables of the section `flat`. */
  readonly historyRuns: number
  /** How long that section holds a snapshot open, in milliseconds. */
  readonly holdMs: number
  /** Runs that wait while the section `recovery` measures. */
  readonly waitingRuns: number
}

/** An option is invalid; the message says what is accepted. */
export class OptionError extends Error {}

const OPTIONS = {
  quick: { type: 'boolean' },
  section: { type: 'string' },
  peers: { type: 'boolean' },
  history: { type: 'string' },
  hold: { type: 'string' },
  runs: { type: 'string' },
  out: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const HISTORY_MAX = 1_000_000_000
const HOLD_MAX_MS = 86_400_000

/** Reads the command line. Returns `'help'` if help was asked for. Throws {@link OptionError}. */
export function readOptions(
  args: readonly string[],
  known: { readonly sections: readonly string[]; readonly withoutAsking: readonly string[] },
): BenchOptions | 'help' {
  const { values, tokens } = parseArgs({
    args: [...args],
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'positional') throw new OptionError(`Unexpected "${token.value}".${seeHelp()}`)
    if (token.kind === 'option') checkOption(token.name, token.rawName, token.value)
  }
  if (values.help === true) return 'help'
  const quick = values.quick === true
  const text = (value: string | boolean | undefined) => (typeof value === 'string' ? value : undefined)
  return {
    quick,
    sections: sectionsOf(text(values.section), { peers: values.peers === true, quick, ...known }),
    out: text(values.out),
    historyRuns: countOf('--history', text(values.history)) ?? (quick ? 100_000 : 10_000_000),
    holdMs: holdOf(text(values.hold)) ?? (quick ? 10_000 : 600_000),
    waitingRuns: countOf('--runs', text(values.runs)) ?? (quick ? 20_000 : 1_000_000),
  }
}

function checkOption(name: string, rawName: string, value: string | undefined): void {
  const known = Object.keys(OPTIONS)
  if (!known.includes(name)) {
    const meant = nearest(name, known)
    throw new OptionError(`Unknown option ${rawName}.${meant ? ` Did you mean --${meant}?` : ''}${seeHelp()}`)
  }
  const { type } = OPTIONS[name as keyof typeof OPTIONS]
  if (type === 'string' && (value === undefined || value === '')) {
    throw new OptionError(`${rawName} needs a value.${seeHelp()}`)
  }
  if (type === 'boolean' && value !== undefined) {
    throw new OptionError(`${rawName} takes no value; got "${value}".`)
  }
}

function sectionsOf(
  list: string | undefined,
  given: { peers: boolean; quick: boolean; sections: readonly string[]; withoutAsking: readonly string[] },
): readonly string[] {
  if (list === undefined && given.peers) return ['peers']
  // Peers are installed from the network, which a quick look must not need.
  if (list === undefined) return given.quick ? given.withoutAsking : given.sections
  const asked = new Set(list.split(',').map((name) => name.trim()))
  for (const name of asked) {
    if (given.sections.includes(name)) continue
    const meant = nearest(name, given.sections)
    throw new OptionError(
      `--section: there is no section "${name}".${meant ? ` Did you mean "${meant}"?` : ''} There are ${given.sections.join(', ')}.`,
    )
  }
  if (given.peers) asked.add('peers')
  return given.sections.filter((name) => asked.has(name))
}

function countOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const runs = Number(text.replaceAll(/[_,]/g, ''))
  if (Number.isInteger(runs) && runs >= 1_000 && runs <= HISTORY_MAX) return runs
  throw new OptionError(`${option} takes a number of runs, 1,000 to 1,000,000,000; got "${text}".`)
}

function holdOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = durationOf(text)
  if (ms !== undefined && ms >= 5_000 && ms <= HOLD_MAX_MS) return ms
  throw new OptionError(`--hold takes a time from 5s to 24h, like 10m; got "${text}".`)
}

function durationOf(text: string): number | undefined {
  try {
    return durationMs(text as '1s', '--hold')
  } catch {
    return undefined
  }
}

function seeHelp(): string {
  return ' See --help.'
}
