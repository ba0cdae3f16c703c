import type { RunStatus } from '@belay/workflow/adapter'
import type { Operation, OperatorAction } from './command.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const FITTING_PROBABILITY = 0.8

/** An operator's action on a run: usually one that fits its status, sometimes any. */
export function operation(world: World, random: Random): Operation {
  // Prefers the newer half. Runs that ended long ago are retried too, but less often.
  const runId = random.pick(random.chance(0.7) ? world.runIds.slice(-20) : world.runIds)
  const seen = world.seen.get(runId)
  const fits = seen !== undefined && random.chance(FITTING_PROBABILITY)
  const action = random.weighted(fits ? ACTIONS_FOR[seen.run.status] : ANY)
  const steps = seen?.steps ?? [{ name: 'a', status: '' }]
  const wanted = STATUS_FOR[action]
  const fitting = steps.filter(({ status }) => wanted?.includes(status) ?? true)
  return {
    do: 'operate',
    runId,
    action,
    step: random.pick(fits && fitting.length > 0 ? fitting : steps).name,
  }
}

type Weights = Readonly<Record<OperatorAction, number>>

const NONE: Weights = {
  pause: 0,
  resume: 0,
  retry: 0,
  retryStep: 0,
  skipStep: 0,
  retryCompensation: 0,
  skipCompensation: 0,
  abandon: 0,
  giveUpStep: 0,
  migrate: 0,
  setPriority: 0,
}
const ANY: Weights = {
  pause: 1,
  resume: 1,
  retry: 1,
  retryStep: 1,
  skipStep: 1,
  retryCompensation: 1,
  skipCompensation: 1,
  abandon: 0.3,
  giveUpStep: 1,
  migrate: 1,
  setPriority: 1,
}
const FORWARD: Weights = {
  ...NONE,
  pause: 6,
  retryStep: 2,
  skipStep: 2,
  abandon: 1,
  migrate: 3,
  setPriority: 2,
}
const ENDED: Weights = { ...NONE, retry: 4, retryStep: 1, skipStep: 1, migrate: 2 }

const ACTIONS_FOR: Readonly<Record<RunStatus, Weights>> = {
  scheduled: FORWARD,
  running: FORWARD,
  waiting: FORWARD,
  parked: { ...FORWARD, retry: 4, retryStep: 4, skipStep: 4 },
  paused: { ...NONE, resume: 9, skipStep: 1, retryStep: 1, migrate: 3, setPriority: 1 },
  compensating: { ...ANY, giveUpStep: 4 },
  compensation_failed: { ...NONE, retryCompensation: 2, skipCompensation: 2 },
  completed: ANY,
  failed: ENDED,
  compensated: ENDED,
  cancelled: ENDED,
}

/** The step statuses that an action may fit; absent if the action is not about a step. */
const STATUS_FOR: Readonly<Partial<Record<OperatorAction, readonly string[]>>> = {
  retryStep: ['ready', 'failed', 'cancelled'],
  skipStep: ['ready', 'failed'],
  retryCompensation: ['compensation_failed'],
  skipCompensation: ['compensation_failed'],
  giveUpStep: ['running', 'compensating'],
}
