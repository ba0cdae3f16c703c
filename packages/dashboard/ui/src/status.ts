import { glyphOf, type RunStatus, type StepStatus } from '@belay/graph-view'

/** In the order of their urgency. */
export const RUN_STATUSES: readonly RunStatus[] = [
  'compensation_failed',
  'parked',
  'failed',
  'compensating',
  'paused',
  'running',
  'waiting',
  'scheduled',
  'completed',
  'compensated',
  'cancelled',
]

export function wordOf(status: RunStatus | StepStatus): string {
  const word = status === 'compensation_failed' ? 'undo parked' : glyphOf(status)
  return word[0]!.toUpperCase() + word.slice(1)
}

/** Nothing about such a run asks for attention. */
export function isQuiet(status: RunStatus): boolean {
  return status === 'completed' || status === 'compensated' || status === 'cancelled'
}

export const LIVE: readonly RunStatus[] = [
  'scheduled',
  'running',
  'waiting',
  'parked',
  'paused',
  'compensating',
  'compensation_failed',
]

export function isRunStatus(text: string): text is RunStatus {
  return (RUN_STATUSES as readonly string[]).includes(text)
}
