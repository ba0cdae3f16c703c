import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, actOn, aimed, statusChange } from '../runs/act.ts'
import type { ActionOnRuns, Aim } from '../runs/action.ts'
import { PREFIX } from '../runs/names.ts'

/** `belay retry`: runs, or one step of a run. */
export async function run(call: Call): Promise<ExitStatus> {
  const { args, rest } = call
  const [step] = rest
  if (step === undefined) return act(call, aimed(call).aim, RETRY)
  if (rest.every((word) => PREFIX.test(word))) return act(call, several(call), RETRY)
  if (rest.length > 1) throw misused('Several runs are named by their ids, or by filters.')
  const { aim } = aimed({ ...call, args: { ...args, step } }, 'step')
  if (!('run' in aim) || call.flags.expect !== undefined) {
    throw misused('Of many runs whole runs are retried: leave out the step.')
  }
  if (call.flags['dry-run']) return (await import('../runs/would.ts')).run(call)
  return actOn(call, {
    needsReason: true,
    isFollowed: true,
    one: async (run, { by }) => ({ step, ...(await run.retryStep(step, by)) }),
  })
}

function several({ args, rest, flags }: Call): Aim {
  // Refuses filters beside runs.
  aimed({ args, flags })
  return { runs: [args['run']!, ...rest] }
}

const RETRY: ActionOnRuns = {
  them: 'retry them',
  done: 'retried',
  selects: ['failed', 'compensated'],
  byEnd: true,
  needsReason: true,
  isFollowed: true,
  async one(run, { store, found, by }) {
    await run.retry(by)
    return statusChange(store, found, true)
  },
  many: ({ engine }, runs, options) => engine.runs.retryMany(runs, options),
}
