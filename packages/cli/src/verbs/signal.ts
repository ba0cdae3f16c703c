import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { send } from '../runs/sent.ts'
import { jsonOf } from '../runs/typed.ts'
import { safe } from '../terminal/text.ts'

/** `belay signal`. */
export async function run(call: Call): Promise<ExitStatus> {
  const step = call.args['step']!
  const { data, key } = call.flags
  const payload = jsonOf('data', data)
  return send(call, { hasPayload: true, went: `"${safe(step)}" goes on` }, ({ engine }, { id }) =>
    engine.runs.handle(id).signal<string>(step, payload, { key }),
  )
}
