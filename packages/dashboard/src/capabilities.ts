import type { ScheduleAction } from './api/schedules.ts'
import type { ActionRequest } from './api.ts'
import type { Capability } from './capability.ts'

/** What each action takes. */
export const CAPABILITY_OF: Readonly<Record<ActionRequest['verb'], Capability>> = {
  cancel: 'runs.cancel',
  pause: 'runs.pause',
  resume: 'runs.pause',
  retry: 'runs.retry',
  retryStep: 'steps.retry',
  skipStep: 'steps.skip',
  retryCompensation: 'undo.retry',
  skipCompensation: 'undo.skip',
  signal: 'signals.send',
  approve: 'approvals.decide',
  reject: 'approvals.decide',
  setPriority: 'runs.priority',
}

export const CAPABILITY_OF_SCHEDULE: Readonly<Record<ScheduleAction, Capability>> = {
  fire: 'schedules.fire',
  backfill: 'schedules.fire',
  pause: 'schedules.pause',
  resume: 'schedules.pause',
}

export const CAPABILITIES: readonly Capability[] = [
  'payloads.read',
  ...new Set(Object.values(CAPABILITY_OF)),
  ...(['runs.move', 'schedules.fire', 'schedules.pause', 'limits.set'] as const),
]

export function isVerb(verb: unknown): verb is ActionRequest['verb'] {
  return typeof verb === 'string' && Object.hasOwn(CAPABILITY_OF, verb)
}
