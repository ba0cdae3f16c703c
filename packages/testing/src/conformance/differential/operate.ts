import type { RunHandle } from '@belay/workflow'
import type { OperatorAction } from './command.ts'

/** Does what an operator does to a run. */
export function operate(
  handle: RunHandle,
  action: Exclude<OperatorAction, 'migrate'>,
  step: string,
): Promise<unknown> {
  const by = { by: 'operator', reason: 'chance' }
  switch (action) {
    case 'pause':
    case 'resume':
    case 'retry':
      return handle[action](by)
    case 'retryStep':
    case 'retryCompensation':
    case 'skipCompensation':
      return handle[action](step, by)
    case 'skipStep':
      return handle.skipStep(step, { ...by, output: 'stand-in' })
    case 'giveUpStep':
      return handle.giveUpStep(step, by)
    case 'setPriority':
      return handle.setPriority(step.length, by)
    case 'abandon':
      return handle.cancel({ ...by, compensate: false })
  }
}
