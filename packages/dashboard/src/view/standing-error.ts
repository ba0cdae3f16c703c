import type { StepSnapshot, WorkflowStep } from '@belay/workflow'
import { failureOf } from './item-errors.ts'
import type { Texts } from './texts.ts'

/** The error of a step that nobody has repaired; else that of an item that fails. An error stays stored after a later attempt was better. */
export function standingError(
  acts: StepSnapshot,
  items: readonly StepSnapshot[],
  { written, texts }: { readonly written: WorkflowStep | undefined; readonly texts: Texts },
): string | undefined {
  const { error, name } = acts
  if (error !== undefined && !isRepaired(acts, written)) return texts.error(error, name)
  return itemError(items, texts)
}

function isRepaired({ status }: StepSnapshot, written: WorkflowStep | undefined): boolean {
  if (status === 'completed' || status === 'skipped') return true
  // What is undone only once it has completed did complete before.
  const isUndone = status === 'compensating' || status === 'compensated' || status === 'compensation_failed'
  return isUndone && written?.compensate === 'completed'
}

const WORST_FIRST = ['failed', 'undo parked', 'retrying', 'undo retrying'] as const

function itemError(items: readonly StepSnapshot[], texts: Texts): string | undefined {
  const failing = items.flatMap((item) => {
    const failure = failureOf(item)
    return failure === undefined ? [] : [{ item, ...failure }]
  })
  const worst = WORST_FIRST.flatMap((state) => failing.filter((one) => one.state === state))[0]
  if (worst === undefined) return undefined
  const { item, state, error } = worst
  return `${state.startsWith('undo') ? 'Undo of item' : 'Item'} ${item.itemKey}: ${texts.error(error, item.name)}`
}

/** The error of an undo that goes on, or is parked. */
export function standingUndoError({ status, name, undo }: StepSnapshot, texts: Texts): string | undefined {
  if (undo?.error === undefined || status === 'compensated') return undefined
  return texts.error(undo.error, name)
}
