import type {
  ActionOptions,
  BulkOptions,
  BulkResult,
  RunHandle,
  RunsToChange,
  StepRepair,
} from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, actOn, aimed, stepOf } from '../runs/act.ts'
import { onParkedUndos } from '../runs/parked-undos.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'

/** `belay undo retry`, `undo skip` and `undo give-up`. */
export async function run(call: Call): Promise<ExitStatus> {
  return VERBS[call.verb.name]!(call)
}

const PARKED = ['compensation_failed'] as const

const VERBS: Readonly<Record<string, (call: Call) => Promise<ExitStatus>>> = {
  'undo retry': (call) =>
    repair(call, {
      them: (undos) => `retry ${undos} in them`,
      done: 'retried',
      one: (run, step, by) => run.retryCompensation(step, by),
      many: ({ engine }, runs, step, options) => engine.runs.retryCompensationMany(runs, step, options),
    }),
  'undo skip': (call) =>
    repair(call, {
      them: (undos) => `mark ${undos} as done by hand in them`,
      done: 'marked as undone',
      one: (run, step, by) => run.skipCompensation(step, by),
      many: ({ engine }, runs, step, options) => engine.runs.skipCompensationMany(runs, step, options),
    }),
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

interface Repair {
  /** After "Type 3 to". */
  readonly them: (undos: string) => string
  readonly done: string
  readonly one: (run: RunHandle, step: string, by: ActionOptions) => Promise<StepRepair>
  readonly many: (store: Store, runs: RunsToChange, step: string, options: BulkOptions) => Promise<BulkResult>
}

/** Of many runs without a step: every undo that is parked in them. */
async function repair(call: Call, { them, done, one, many }: Repair): Promise<ExitStatus> {
  const { aim, operand } = aimed(call, 'step')
  const step = 'run' in aim ? stepOf(operand) : operand
  return act(call, aim, {
    them: them(step === undefined ? 'every parked undo' : `the undo of ${safe(step)}`),
    done,
    selects: PARKED,
    needsReason: true,
    isFollowed: true,
    one: async (run, { by }) => ({ step: stepOf(step), ...(await one(run, stepOf(step), by)) }),
    many: (store, runs, options) =>
      step === undefined
        ? onParkedUndos(store, runs, options, (some, each, own) => many(store, some, each, own))
        : many(store, runs, step, options),
  })
}
