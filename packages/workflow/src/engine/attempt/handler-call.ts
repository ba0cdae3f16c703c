import type { StepTransaction } from '../../adapter/index.ts'
import type { StepDefinition } from '../../definition/step.ts'

/** How a handler, or another function of the step, is called. */
export interface HandlerCall {
  readonly tx?: StepTransaction | undefined
  /** The option that gave the function, if that is no handler. Such functions have a time limit even if the step has no timeout. */
  readonly asks?: string | undefined
  /** It comes before the handler: nothing has begun. */
  readonly isBefore?: boolean
}

/** The option whose function a map or a loop begins with; undefined for a handler. */
export function openedBy(map: StepDefinition['map']): 'over' | 'first' | undefined {
  if (map?.part === 'map') return 'over'
  return map?.part === 'repeat' ? 'first' : undefined
}
