import type { RunChange, RunToChange, StepChange, StoredStep } from '../../adapter/index.ts'
import { queueEntries } from './plan.ts'

/** `woken`: the step looks at its child now. `busy`: an attempt of the step is under way, and may have looked too early. `over`: nobody waits. */
export interface WokenParent {
  readonly result: 'woken' | 'busy' | 'over'
  readonly definitionId: number
}

/** Makes a step look at its child, whose end it waits for, forward or in its undo. */
export function wakeParent(
  { run, steps, now }: RunToChange,
  number: number,
): { readonly change: RunChange | null; readonly answer: WokenParent } {
  const { definitionId } = run
  const step = steps.find((row) => row.step === number)
  if (step === undefined) return { change: null, answer: { result: 'over', definitionId } }
  if (isUnderWay(step)) return { change: null, answer: { result: 'busy', definitionId } }
  const due = dueNow(step, now)
  if (due === null) return { change: null, answer: { result: 'over', definitionId } }
  // A resumption queues what a paused run held back.
  const queue = run.status === 'paused' ? [] : queueEntries(run, [due])
  return { change: { run, steps: [due], queue, history: [] }, answer: { result: 'woken', definitionId } }
}

/** A step that has ended still names the worker of its newest attempt. */
function isUnderWay({ status, workerId }: StoredStep): boolean {
  return status === 'running' || (status === 'compensating' && workerId !== null)
}

function dueNow(step: StoredStep, now: number): StepChange | null {
  if (step.status === 'waiting') return { ...step, availableAt: now }
  if (step.status === 'compensating') return { ...step, availableAt: null }
  return null
}
