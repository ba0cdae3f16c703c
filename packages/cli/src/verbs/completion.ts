import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import { candidates } from '../completion/candidates.ts'
import { SCRIPTS } from '../completion/scripts.ts'
import type { ExitStatus } from '../exit-status.ts'

/** What the scripts call: `belay completion -- belay list --st` prints what may stand in place of `--st`. */
const PROGRAM = 'belay'

/** `belay completion`. */
export async function run({ args, rest, out, process }: Call): Promise<ExitStatus | undefined> {
  const shell = args['shell']!
  if (shell === PROGRAM) {
    for (const { value, about } of await candidates(rest, process))
      out.line(about ? `${value}\t${about}` : value)
    return
  }
  const script = SCRIPTS[shell]
  if (script === undefined) throw misused(`There is no script for ${shell}; there is bash, zsh and fish.`)
  out.raw(script)
  return
}
