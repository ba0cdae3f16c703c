import type { RunByNameOptions } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { nameOf } from '../runs/names.ts'
import { jsonOf } from '../runs/typed.ts'
import { safe } from '../terminal/text.ts'

/** `belay run`. */
export async function run({ args, flags, out, connect }: Call): Promise<ExitStatus | undefined> {
  const workflow = args['workflow']!
  const input = jsonOf('input', flags.input)
  const { key, tag: tags, priority, delay } = flags
  const { engine } = await connect()
  const options = { key, tags, priority, delay: delay as RunByNameOptions['delay'] }
  const { id, version, created, checked } = await engine.run(workflow, input, options)
  if (out.json) {
    out.document({ id, workflow, version, key, created, checked })
    return
  }
  out.line(id)
  if (!created) out.note('It was there already: nothing was started.')
  else if (!checked) {
    out.note(`No config has ${safe(workflow)} v${version}: nobody checked its input.`)
  }
  out.note(`Follow: belay watch ${nameOf({ id, key })}`)
  return
}
