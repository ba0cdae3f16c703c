import { isTerminal, type RunStatus } from '../../adapter/index.ts'

/** Whether a run with this status may have ended for those that wait for it: a parked undo is an end to them. */
export function mayBeOver(status: RunStatus): boolean {
  return isTerminal(status) || status === 'compensation_failed'
}
