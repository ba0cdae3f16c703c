import { attemptsOf } from './attempts.ts'
import { type GlyphState, shownState } from './glyphs.ts'
import type { ViewRun, ViewStep } from './model.ts'
import { type StepState, stateAt } from './state.ts'
import { countText } from './time.ts'
import { type UnitedStep, unite } from './union.ts'

/** How far one run came with a step. */
export interface StepOutcome {
  readonly state: StepState
  readonly shown: GlyphState
  readonly attempts: number
  readonly undoAttempts: number
  /** Why it was skipped, in words. */
  readonly skipped: string | undefined
  /** From the begin of the first attempt of the newest round to the end of its last one. Undefined if either is not known. */
  readonly tookMs: number | undefined
  /** From the begin of its run to where it failed for good. */
  readonly failedAt: number | undefined
}

/** A step of two runs: `before` is that of the first one. */
export interface ComparedStep extends UnitedStep<ViewStep> {
  readonly a: StepOutcome | undefined
  readonly b: StepOutcome | undefined
  /** In which they differ; empty if in nothing but time. */
  readonly differs: readonly ('presence' | 'state' | 'branch' | 'attempts')[]
}

/** The steps of two runs in topological order, each with how it went in both. */
export function compareRuns(a: ViewRun, b: ViewRun): readonly ComparedStep[] {
  return unite(a.steps, b.steps).map((step) => {
    const outcomes = {
      a: step.before && outcomeOf(a, step.before),
      b: step.after && outcomeOf(b, step.after),
    }
    return { ...step, ...outcomes, differs: differencesOf(outcomes) }
  })
}

function outcomeOf(run: ViewRun, step: ViewStep): StepOutcome {
  const state = stateAt(run, step, run.readAt)
  const attempts = attemptsOf(step, 'forward', step.round)
  const [first, last] = [attempts[0], attempts.at(-1)]
  return {
    state,
    shown: shownState(state),
    attempts: step.attempts,
    undoAttempts: step.undo?.attempts ?? 0,
    skipped: step.skipped,
    failedAt: state.forward === 'failed' ? (last?.endAt ?? run.readAt) - run.createdAt : undefined,
    tookMs: first?.attempt === 1 && last?.endAt !== undefined ? last.endAt - first.startAt : undefined,
  }
}

function differencesOf({ a, b }: Pick<ComparedStep, 'a' | 'b'>): ComparedStep['differs'] {
  if (a === undefined || b === undefined) return ['presence']
  const isSkipped = ({ state }: StepOutcome) => state.forward === 'skipped'
  if (isSkipped(a) !== isSkipped(b)) return ['branch']
  return [
    ...(a.state.forward === b.state.forward && a.state.undo === b.state.undo ? [] : (['state'] as const)),
    ...(a.attempts === b.attempts && a.undoAttempts === b.undoAttempts ? [] : (['attempts'] as const)),
  ]
}

/** Where two runs part, as one sentence: at the step that failed first in one of them alone. An undo follows from what went forward, and begins with the last step. */
export function partingText(steps: readonly ComparedStep[]): string {
  const first =
    firstFailed(steps) ??
    steps.find(({ a, b }) => a?.state.forward !== b?.state.forward || a?.attempts !== b?.attempts) ??
    steps.findLast(({ differs }) => differs.length > 0)
  if (first === undefined) return 'They do not part: each step has the same state after as many attempts.'
  return `They part at ${first.name}: A ${outcomeText(first.a)}, B ${outcomeText(first.b)}.`
}

function firstFailed(steps: readonly ComparedStep[]): ComparedStep | undefined {
  const failedAt = ({ a, b }: ComparedStep) => {
    if (a?.state.forward === b?.state.forward) return undefined
    return a?.failedAt ?? b?.failedAt
  }
  const failed = steps.filter((step) => failedAt(step) !== undefined)
  return failed.toSorted((one, other) => failedAt(one)! - failedAt(other)!)[0]
}

const UNDO = {
  'to undo': 'has to undo it',
  undoing: 'is undoing it',
  undone: 'undid it',
  parked: 'parked its undo',
}

function outcomeText(outcome: StepOutcome | undefined): string {
  if (outcome === undefined) return 'does not have it'
  const { undo } = outcome.state
  const tries = outcome.undoAttempts > 1 ? ` after ${countText(outcome.undoAttempts, 'attempt')}` : ''
  return `${forwardText(outcome)}${undo === undefined ? '' : ` and ${UNDO[undo]}${tries}`}`
}

function forwardText({ state: { forward }, attempts, skipped }: StepOutcome): string {
  const tries = attempts > 1 ? ` after ${countText(attempts, 'attempt')}` : ' at the first attempt'
  switch (forward) {
    case 'skipped':
      return `skipped it${skipped === undefined ? '' : ` (${skipped})`}`
    case 'completed':
      return `completed it${attempts === 0 ? '' : tries}`
    case 'failed':
      return `failed at it${attempts === 0 ? '' : tries}`
    case 'cancelled':
      return attempts === 0 ? 'stopped before it' : `stopped in it${tries}`
    case 'running':
      return `is running it${attempts > 1 ? `, attempt ${attempts}` : ''}`
    case 'waiting':
      return `waits in it${attempts > 1 ? ` after ${countText(attempts, 'attempt')}` : ''}`
    case 'ready':
    case 'pending':
      return 'has not begun it'
  }
}
