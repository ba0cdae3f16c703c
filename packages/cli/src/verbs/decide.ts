import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { actorOf } from '../runs/actor.ts'
import { send } from '../runs/sent.ts'
import { jsonOf } from '../runs/typed.ts'
import { safe } from '../terminal/text.ts'

/** `belay approve` and `belay reject`. */
export async function run(call: Call): Promise<ExitStatus> {
  const isApproval = call.verb.name === 'approve'
  const step = call.args['step']!
  const { data, comment } = call.flags
  const payload = jsonOf('data', data)
  const decision = { by: actorOf(call), comment }
  const went = `${isApproval ? 'approved' : 'rejected'} by ${safe(decision.by)}`
  return send(call, { hasPayload: data !== undefined, went }, ({ engine }, { id }) => {
    const run = engine.runs.handle(id)
    return isApproval ? run.approve(step, { ...decision, payload }) : run.reject(step, decision)
  })
}
