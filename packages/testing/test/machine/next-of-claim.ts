import {
  type Claim,
  type DefinitionShape,
  isItem,
  mapOf,
  type Outcome,
  placeRows,
  type StepRecord,
  type StepShape,
  templateOf,
} from '@belay/workflow/adapter'
import type { StepDefinition } from '../../../workflow/src/definition/step.ts'
import { type AttemptEnd, decideOutcome, refOf } from '../../../workflow/src/engine/decisions/decide.ts'
import { decideBranch } from '../../../workflow/src/engine/decisions/decide-branch.ts'
import { decideWait } from '../../../workflow/src/engine/decisions/decide-wait.ts'
import { owesNothing } from '../../../workflow/src/engine/decisions/plan-undo.ts'
import type { Definition } from './definitions.ts'
import { type AskPhase, jsonOf } from './view.ts'

/** How far an attempt of today’s engine gets without a handler: to what it asks of one, or to its outcome. */
export function nextOf(
  claim: Claim,
  definition: Definition,
  steps: readonly StepRecord[],
  now: number,
): Outcome | AskPhase {
  if (claim.direction === 'undo') {
    const isRelay = isRelayIn(definition.shape, steps, claim.step)
    return isRelay ? outcomeOf(claim, definition, { type: 'relay' }) : 'undo'
  }
  if (isItem(claim.step)) return 'run'
  const branch = branchOf(claim, definition.shape, steps)
  if (branch.type === 'call') return 'decide'
  if (branch.type === 'skipped') return outcomeOf(claim, definition, branch)
  const row = steps[claim.step]!
  switch (definition.shape.steps[claim.step]!.kind) {
    case 'map':
      return 'open'
    case 'repeat':
      return { ...refOf(claim), type: 'expanded', items: [{ key: '1', value: null }], atOnce: null }
    case 'join':
      return joined(claim, definition, steps)
    case 'sleep':
      return row.waitingSince === null ? 'open' : waited(claim, definition, row, now)
    case 'signal':
    case 'approval':
      return waited(claim, definition, row, now)
    default:
      return 'run'
  }
}

/** A loop fails with its beginning or its last round; a map whose items have ended completes. */
function joined(claim: Claim, definition: Definition, steps: readonly StepRecord[]): Outcome {
  const opener = definition.shape.steps[claim.step]!.dependsOn[0]!
  const begun = steps[opener]!
  const last =
    begun.status === 'failed' ? begun : steps.findLast(({ step }) => isItem(step) && mapOf(step) === opener)
  const isLoop = definition.shape.steps[opener]!.kind === 'repeat'
  const end =
    isLoop && last?.status === 'failed'
      ? ({ type: 'loop_failed', error: last.error! } as const)
      : ({ type: 'returned', output: '[]' } as const)
  return outcomeOf(claim, definition, end)
}

/** Whether the undo of a row calls no handler, and only keeps the order of the others. */
export function isRelayIn(shape: DefinitionShape, steps: readonly StepRecord[], number: number): boolean {
  const placed = placeRows(shape, steps) ?? { shape, numbers: [...shape.steps.keys()] }
  const byNumber = new Map(steps.map((row) => [row.step, row]))
  const rows = placed.numbers.map((each, step) => ({ ...byNumber.get(each)!, step }))
  return owesNothing({ shape: placed.shape, steps: rows }, rows[placed.numbers.indexOf(number)]!)
}

/** What today’s engine records for the end of an attempt. */
export function outcomeOf(claim: Claim, { shape }: Definition, end: AttemptEnd): Outcome {
  return decideOutcome(claim, stepOf(claim, shape), end, {
    runtime: { random: () => 0.5 },
    storeStacks: false,
  })
}

/** The shape of a claimed step; an item only works. */
export function shapeOf({ step }: Claim, { steps }: DefinitionShape): Partial<StepShape> {
  return isItem(step) ? {} : steps[step]!
}

function branchOf(
  claim: Claim,
  shape: DefinitionShape,
  steps: readonly StepRecord[],
): ReturnType<typeof decideBranch> {
  const { name, when, onSkipped, dependsOn } = shape.steps[claim.step]!
  const named = when === undefined || when === 'function' ? [] : when
  const cases = named.map(({ choice, cases }) => {
    const step = shape.steps.findIndex((other) => other.name === choice)
    return { step, cases, ofOutcome: shape.steps[step]!.kind !== 'choose' }
  })
  const isNamed = (other: number) => cases.some(({ step }) => step === other)
  const skippedWith = dependsOn.filter((other) => onSkipped !== 'run' || isNamed(other))
  const outputOf = (step: number) => {
    if (cases.find((each) => each.step === step)?.ofOutcome !== true) return steps[step]!.output
    return jsonOf({ status: steps[step]!.status === 'failed' ? 'failed' : 'completed' })
  }
  return decideBranch(
    { claim, step: { name } },
    { when: when === 'function' ? () => true : undefined, cases, skippedWith },
    {
      own: steps[claim.step]!.branch,
      nameOf: (step) => shape.steps[step]!.name,
      branchOf: (step) => steps[step]!.branch,
      outputOf,
    },
  )
}

function waited(claim: Claim, definition: Definition, row: StepRecord, now: number): Outcome {
  const { kind, name } = definition.shape.steps[claim.step]!
  const timeoutMs = definition.code.get(name)?.timeoutMs ?? null
  const wait =
    kind === 'sleep'
      ? ({ kind, by: 'for', ms: null } as const)
      : ({ kind: kind as 'signal', timeoutMs, onTimeout: 'fail' } as const)
  const where = { runId: claim.runId, step: stepOf(claim, definition.shape) }
  const next = decideWait(where, wait as Parameters<typeof decideWait>[1], { ...row, now })
  if (next.type === 'call') throw new Error('A wait asks again.')
  return outcomeOf(claim, definition, next.type === 'output' ? { type: 'returned', output: null } : next)
}

/** As much of a step’s definition as its outcomes depend on. */
function stepOf({ step: number }: Claim, { steps }: DefinitionShape): StepDefinition {
  const template = templateOf(number)
  const { name, kind, onFailure = 'stop' } = steps[template]!
  const isPivot = (other: number) => other < template && steps[other]!.pivot === true
  return {
    name,
    // Of a map it is about its items.
    onFailure: kind === 'map' && !isItem(number) ? 'stop' : onFailure,
    pivotsBefore: [...steps.keys()].filter(isPivot),
    retry: { attempts: 1, forMs: null },
    compensation: null,
    ...(kind === 'join' ? { map: { part: 'join' } } : {}),
  } as unknown as StepDefinition
}
