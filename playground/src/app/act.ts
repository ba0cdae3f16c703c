import type { Engine } from '@belay/workflow'
import type { AppCall } from '../messages.ts'

const WHO = { by: 'you', reason: 'In the playground' }

/** Does what a button of the page says. Throws what the engine throws. */
export async function act(
  engine: Engine,
  { verb, run: id, step = '', payload }: AppCall & { readonly do: 'act' },
): Promise<void> {
  const run = engine.runs.handle(id)
  switch (verb) {
    case 'cancel':
    case 'pause':
    case 'resume':
    case 'retry':
      await run[verb](WHO)
      return
    case 'retryStep':
    case 'retryCompensation':
    case 'skipCompensation':
      await run[verb](step, WHO)
      return
    case 'skipStep':
      await run.skipStep(step, { ...WHO, output: payload })
      return
    case 'approve':
      await run.approve(step, { by: WHO.by, payload })
      return
    case 'reject':
      await run.reject(step, { by: WHO.by, comment: WHO.reason })
      return
    case 'signal':
      await run.signal(step, payload)
      return
    default:
      throw new Error(`The playground has no button for ${verb}.`)
  }
}
