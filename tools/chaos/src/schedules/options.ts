import { parseArgs } from 'node:util'

/** An option is invalid; the message says what is accepted. */
export class OptionError extends Error {}

export const HELP = `Fires ten schedules every second on three worker processes, which are killed (SIGKILL) within 150 ms of each second. At the end every
second must have exactly one run of each schedule.

  npm run schedules:soak                   one minute
  npm run schedules:soak -- --minutes 10   as long as that

  --minutes N    from 0.1 to 1440; default 1
  --help

Prints a line every ten seconds. Exits with 1 when a firing is missing or doubled, and says which.`

/** Reads the command line: the minutes, or `'help'` if help was asked for. Throws {@link OptionError}. */
export function readMinutes(args: readonly string[]): number | 'help' {
  const { help, minutes } = parsed(args)
  if (help === true) return 'help'
  if (minutes === undefined) return 1
  const value = Number(minutes)
  if (minutes.trim() !== '' && value >= 0.1 && value <= 1_440) return value
  throw new OptionError(`--minutes must be a number from 0.1 to 1440; got "${minutes}".`)
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { minutes: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    }).values
  } catch (error) {
    throw new OptionError(
      `${error instanceof Error ? error.message : error} See npm run schedules:soak -- --help.`,
    )
  }
}
