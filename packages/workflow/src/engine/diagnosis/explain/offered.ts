import { factsOfKind, type StepRecord } from '../../../adapter/index.ts'
import { owesNothing } from '../../decisions/plan-undo.ts'
import type { OfferedAction, OfferedVerb } from '../offered-action.ts'
import type { RunToExplain, StepExplanation } from './explanation.ts'
import { childOf, mayMove } from './forward.ts'

/** What an operator may do now about a step's sentence: only what the engine accepts in this state. */
export function offeredFor(
  found: RunToExplain,
  step: StepRecord,
  { reason }: Pick<StepExplanation, 'reason'>,
): readonly OfferedAction[] {
  const ofStep = (...verbs: readonly OfferedVerb[]) => verbs.map((verb) => ({ verb, step: step.name }))
  switch (reason) {
    case 'paused':
      return RESUME
    case 'running':
      return [
        ...(found.run.status === 'paused' ? RESUME : []),
        ...(mayGiveUp(found, step) ? ofStep('giveUpStep') : []),
      ]
    case 'retry':
    case 'operator':
      if (step.status === 'compensation_failed') return ofStep('retryCompensation', 'skipCompensation')
      // An undo that waits for one which failed for good has nothing to repair itself.
      if (step.status === 'compensating')
        return reason === 'operator'
          ? []
          : [...ofStep('retryCompensation', 'skipCompensation'), { verb: 'pause' }]
      return ofStep('retryStep', ...skip(found, step))
    case 'timer': {
      const mayHurry = step.status === 'ready' || factsOf(found, step)?.hurriedByRetry === true
      return ofStep(...(mayHurry ? (['retryStep'] as const) : []), ...skip(found, step))
    }
    case 'signal':
      return ofStep(...sentTo(found, step))
    case 'child': {
      const child = childOf(found, step.step)
      return child?.status === 'paused' ? [{ verb: 'resume', run: child.runId }] : []
    }
    case 'limit':
      return limitVerbs(found, step).map((verb) => ({ verb }))
    case 'worker':
      return mayMove(found) ? [{ verb: 'migrateRun' }] : []
    case 'dependency':
    case 'start':
    case 'due':
    case 'slot':
      return []
  }
}

const RESUME: readonly OfferedAction[] = [{ verb: 'resume' }]

/** A handler that runs although its run was stopped, or that undoes. */
function mayGiveUp(found: RunToExplain, step: StepRecord): boolean {
  if (step.status === 'compensating') return !owesNothing(found, step)
  return found.run.cause !== null
}

/** The steps that decide items or begin a loop have no output that could stand for it. */
function skip({ shape }: RunToExplain, { step }: StepRecord): readonly OfferedVerb[] {
  const { kind } = shape.steps[step]!
  return kind === 'map' || kind === 'repeat' ? [] : ['skipStep']
}

function sentTo({ shape }: RunToExplain, { step }: StepRecord): readonly OfferedVerb[] {
  const { kind } = shape.steps[step]!
  if (kind === 'approval') return ['approve', 'reject']
  return kind === 'signal' ? ['signal'] : []
}

/** A step whose turn comes by itself needs nobody. */
function limitVerbs(
  { limitWaits, limitCircles }: RunToExplain,
  { step }: StepRecord,
): readonly OfferedVerb[] {
  if (limitWaits?.find((wait) => wait.step === step)?.concurrency === 0) return ['limits.set', 'limits.reset']
  return limitCircles?.some((circle) => circle.step === step) === true ? ['limits.set'] : []
}

function factsOf({ shape }: RunToExplain, { step }: StepRecord) {
  return factsOfKind(shape.steps[step]!.kind)
}
