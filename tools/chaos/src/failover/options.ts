import { parseArgs } from 'node:util'

export interface FailoverOptions {
  readonly promotions: number
}

/** An option is invalid; the message says what is accepted. */
export class OptionError extends Error {}

export const HELP = `Runs worker processes and a process that starts runs, under load, on a PostgreSQL with an asynchronous standby. Again and again the standby
stops receiving, new workflows are stored and started that it will never have, the server is killed, and the standby is promoted; the same
processes go on with it, and it gets a standby of its own.

After each promotion, runs of every workflow must be started and must complete, those of workflows too whose definitions were lost; schedules
must fire, limits must let their steps through, and every surviving worker must have said that the store went back. At the end every run in the
store has completed, no handler has had the input of another workflow, each effect has one idempotency key, and nobody waits for a lost run.

  npm run failover                      three promotions
  npm run failover -- --promotions 10   as many as that, one after the other
  npm run failover -- --quick           one, as CI runs it
  --help

Prints a line for each promotion. Exits with 1 when something broke, and says what. Linux only.`

const OPTIONS = {
  promotions: { type: 'string' },
  quick: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const PROMOTIONS = 3
const PROMOTIONS_MAX = 1_000

/** Reads the command line. Returns `'help'` if help was asked for. Throws {@link OptionError}. */
export function readOptions(args: readonly string[]): FailoverOptions | 'help' {
  const { help, quick, promotions } = parsed(args)
  if (help === true) return 'help'
  if (promotions === undefined) return { promotions: quick === true ? 1 : PROMOTIONS }
  const count = Number(promotions)
  if (promotions.trim() !== '' && Number.isInteger(count) && count >= 1 && count <= PROMOTIONS_MAX)
    return { promotions: count }
  throw new OptionError(
    `--promotions must be a whole number from 1 to ${PROMOTIONS_MAX}; got "${promotions}".`,
  )
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    throw new OptionError(`${error instanceof Error ? error.message : error} See npm run failover -- --help.`)
  }
}
