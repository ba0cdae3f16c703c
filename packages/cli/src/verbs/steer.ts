import { participleOf } from '@belay/graph-view'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { act, aimed, statusChange } from '../runs/act.ts'
import type { ActionOnRuns } from '../runs/action.ts'

/** `belay pause`, `resume` and `cancel`. */
export async function run(call: Call): Promise<ExitStatus> {
  return act(call, aimed(call).aim, ACTIONS[call.verb.name]!(call))
}

const FORWARD = ['scheduled', 'running', 'waiting'] as const

const ACTIONS: Readonly<Record<string, (call: Call) => ActionOnRuns>> = {
  pause: () => ({
    them: 'pause them',
    done: participleOf({ verb: 'pause' }),
    selects: FORWARD,
    one: async (run, { store, found, by }) => statusChange(store, found, await run.pause(by)),
    many: ({ engine }, runs, options) => engine.runs.pauseMany(runs, options),
  }),
  resume: () => ({
    them: 'resume them',
    done: participleOf({ verb: 'resume' }),
    selects: ['paused'],
    isFollowed: true,
    one: async (run, { store, found, by }) => statusChange(store, found, await run.resume(by)),
    many: ({ engine }, runs, options) => engine.runs.resumeMany(runs, options),
  }),
  cancel: ({ flags: { compensate = true } }) => ({
    them: compensate ? 'cancel and undo them' : 'cancel them without an undo',
    done: participleOf({ verb: 'cancel' }),
    selects: [...FORWARD, 'paused'],
    needsReason: true,
    isFollowed: true,
    one: async (run, { store, found, by }) =>
      statusChange(store, found, await run.cancel({ ...by, compensate })),
    many: ({ engine }, runs, options) => engine.runs.cancelMany(runs, { ...options, compensate }),
  }),
}
