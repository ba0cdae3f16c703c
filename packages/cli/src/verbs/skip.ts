import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { actOn } from '../runs/act.ts'
import { jsonOf } from '../runs/typed.ts'

/** `belay skip`. */
export async function run(call: Call): Promise<ExitStatus> {
  const step = call.args['step']!
  const output = jsonOf('output', call.flags.output)
  return actOn(call, {
    needsReason: true,
    isFollowed: true,
    one: async (run, { by }) => ({ step, ...(await run.skipStep(step, { ...by, output })) }),
  })
}
