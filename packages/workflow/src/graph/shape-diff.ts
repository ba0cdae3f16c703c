import type { CaseCondition } from '../adapter/case-condition.ts'
import type { DefinitionShape, StepShape } from '../adapter/records.ts'
import { factsOfKind } from '../adapter/step-kinds.ts'

/**
 * The differences between a definition and the stored one, one line for each step: `+ step sendMail (depends on chargeCard)`, `− step sendFax`, `~
 * chargeCard: depends on checkFraud, was reserveStock; compensates completed, was never`. Empty when the shapes are the same.
 */
export function diffShapes(stored: DefinitionShape, current: DefinitionShape): string[] {
  const before = new Map(stored.steps.map((step) => [step.name, step]))
  const after = new Map(current.steps.map((step) => [step.name, step]))
  const removed = stored.steps.filter((step) => !after.has(step.name)).map((step) => `− step ${step.name}`)
  const addedOrChanged = current.steps.flatMap((step) => {
    const old = before.get(step.name)
    if (old === undefined) return [addedLine(step, current)]
    const changes = stepChanges({ step: old, shape: stored }, { step, shape: current })
    return changes.length === 0 ? [] : [`~ ${step.name}: ${changes.join('; ')}`]
  })
  const ends = (stored.endSteps ?? false) === (current.endSteps ?? false) ? [] : [endLine(current)]
  const starts = stored.collects === current.collects ? [] : [startLine(stored, current)]
  return [...removed, ...addedOrChanged, ...ends, ...starts]
}

function startLine(stored: DefinitionShape, current: DefinitionShape): string {
  return `~ start: ${startOf(current)}, was ${startOf(stored)}`
}

function startOf({ collects }: DefinitionShape): string {
  return collects ?? 'one run for each call'
}

function endLine({ endSteps }: DefinitionShape): string {
  return endSteps ? '+ steps after the end' : '− steps after the end'
}

function addedLine(step: StepShape, shape: DefinitionShape): string {
  const facts = [`depends on ${dependencyList(step, shape)}`]
  if (step.kind !== undefined) facts.unshift(kindOf(step))
  if (step.compensate !== 'never') facts.push(`compensates ${compensationOf(step)}`)
  if (step.onFailure === 'continue') facts.push('the run continues if it fails')
  facts.push(...marksOf(step))
  if (conditionOf(step) !== ALWAYS) facts.push(conditionOf(step))
  return `+ step ${step.name} (${facts.join('; ')})`
}

interface StepOfShape {
  readonly step: StepShape
  readonly shape: DefinitionShape
}

function stepChanges(old: StepOfShape, current: StepOfShape): string[] {
  const changes: string[] = []
  // Compare by name: an added or removed step renumbers the later ones without changing their dependencies.
  if (kindOf(current.step) !== kindOf(old.step)) {
    changes.push(`${kindOf(current.step)}, was ${kindOf(old.step)}`)
  }
  const dependsOn = dependencyList(current.step, current.shape)
  const depended = dependencyList(old.step, old.shape)
  if (dependsOn !== depended) changes.push(`depends on ${dependsOn}, was ${depended}`)
  const [compensation, compensated] = [compensationOf(current.step), compensationOf(old.step)]
  if (compensation !== compensated) changes.push(`compensates ${compensation}, was ${compensated}`)
  const [marks, marked] = [marksOf(current.step), marksOf(old.step)].map(
    (words) => words.join(', ') || 'plain',
  )
  if (marks !== marked) changes.push(`${marks}, was ${marked}`)
  const [condition, before] = [conditionOf(current.step), conditionOf(old.step)]
  if (condition !== before) changes.push(`${condition}, was: ${before}`)
  const [failing, failed] = [onFailureOf(current.step), onFailureOf(old.step)]
  if (failing !== failed) changes.push(`${failing} the run if it fails, ${failed} it before`)
  return changes
}

function marksOf({ irreversible, pivot }: StepShape): readonly string[] {
  return [...(irreversible ? ['irreversible'] : []), ...(pivot ? ['a pivot'] : [])]
}

function kindOf({ kind, cases = [], children }: StepShape): string {
  const known = factsOfKind(kind)?.does ?? `"${kind}", which this release does not know`
  const does = children ? `${known} children` : known
  return cases.length === 0 ? does : `${does} of ${cases.join(', ')}`
}

const ALWAYS = 'always runs'

/** When a step runs, in words: `runs when method is card or cash, although a dependency was skipped`. */
function conditionOf({ when, onSkipped }: StepShape): string {
  const wishes =
    when === undefined ? [] : when === 'function' ? ['when its function says so'] : when.map(caseWords)
  if (onSkipped === 'run') wishes.push('although a dependency was skipped')
  return wishes.length === 0 ? ALWAYS : `runs ${wishes.join(', ')}`
}

function compensationOf({ compensate, compensateAll }: StepShape): string {
  return compensateAll ? `${compensate}, all items at once` : compensate
}

function onFailureOf({ onFailure }: StepShape): string {
  return onFailure === 'continue' ? 'continues' : 'stops'
}

function caseWords({ choice, cases }: CaseCondition): string {
  return `when ${choice} is ${cases.join(' or ')}`
}

function dependencyList(step: StepShape, shape: DefinitionShape): string {
  if (step.dependsOn.length === 0) return 'nothing'
  return step.dependsOn
    .map((number) => shape.steps[number]?.name ?? `#${number}`)
    .sort()
    .join(', ')
}
