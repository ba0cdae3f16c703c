import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, actOn, aimed, stepOf } from '../runs/act.ts'
import { safe } from '../terminal/text.ts'

/** `belay undo retry`, `undo skip` and `undo give-up`. */
export async function run(call: Call): Promise<ExitStatus> {
  return VERBS[call.verb.name]!(call)
}

const PARKED = ['compensation_failed'] as const

const VERBS: Readonly<Record<string, (call: Call) => Promise<ExitStatus>>> = {
  'undo retry': async (call) => {
    const { aim, operand } = aimed(call, 'step')
    const step = stepOf(operand)
    return act(call, aim, {
      them: `retry the undo of ${safe(step)} in them`,
      done: 'retried',
      selects: PARKED,
      needsReason: true,
      isFollowed: true,
      one: async (run, { by }) => ({ step, ...(await run.retryCompensation(step, by)) }),
      many: ({ engine }, runs, options) => engine.runs.retryCompensationMany(runs, step, options),
    })
  },
  'undo skip': async (call) => {
    const { aim, operand } = aimed(call, 'step')
    const step = stepOf(operand)
    return act(call, aim, {
      them: `mark ${safe(step)} as undone by hand in them`,
      done: 'marked as undone',
      selects: PARKED,
      needsReason: true,
      isFollowed: true,
      one: async (run, { by }) => ({ step, ...(await run.skipCompensation(step, by)) }),
      many: ({ engine }, runs, options) => engine.runs.skipCompensationMany(runs, step, options),
    })
  },
  'undo give-up': async (call) => {
    const step = call.args['step']!
    const reason = call.flags.reason ?? ''
    return actOn(call, {
      needsReason: true,
      isFollowed: true,
      one: async (run, { by }) => ({ step, ...(await run.giveUpStep(step, { ...by, reason })) }),
    })
  },
}
