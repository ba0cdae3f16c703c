import type { WorkflowDefinition } from '@belay/workflow'
import { isItem, mapOf, type Outcome, RUNS, type StepRecord, skipOf } from '@belay/workflow/adapter'

/** The rows of a run, ascending by step. */
type Rows = readonly StepRecord[]

/**
 * Why a step must not run, from the rows of the steps that it depends on; undefined if nothing speaks against it. Recomputed here, so that the
 * oracle does not ask the engine.
 */
function whySkipped(definition: WorkflowDefinition, name: string, rows: Rows): string | undefined {
  const step = definition.steps[definition.graph.numberOf(name)!]!
  const rowOf = (number: number) => rows.find((row) => row.name === definition.graph.names[number])
  const { when, onSkipped } = step
  const cases = when?.by === 'cases' ? when.cases : []
  for (const dependency of definition.graph.dependencies[step.number]!) {
    const row = rowOf(dependency)
    if (row === undefined || skipOf(row.branch) === undefined) continue
    const isChoice = cases.some(({ choice }) => choice === row.name)
    if (onSkipped === 'skip' || isChoice) return `its dependency ${row.name} was skipped`
  }
  for (const { choice, cases: wanted } of cases) {
    const row = rows.find((other) => other.name === choice)
    if (definition.steps[definition.graph.numberOf(choice)!]!.onFailure === 'continue') {
      const outcome = row?.status === 'failed' ? 'failed' : 'completed'
      if (!wanted.includes(outcome)) return `${choice} ${outcome}`
      continue
    }
    const output = row?.output ?? null
    if (output === null || !wanted.includes(JSON.parse(output))) return `${choice} chose ${output}`
  }
  return undefined
}

/** Checks whether a step whose handler is called may run, and is known to. */
export function checkRuns(
  call: { readonly definition: WorkflowDefinition; readonly steps: Rows; readonly number: number },
  broken: (violation: string) => void,
): void {
  const { definition, steps, number } = call
  const { name, when } = definition.steps[number]!
  const { branch } = steps[number]!
  const why = whySkipped(definition, name, steps)
  if (why !== undefined && branch !== RUNS) broken(`was called although ${why}`)
  if (when?.by === 'function' && branch !== RUNS) broken('was called before it was recorded that it runs')
}

/** Checks whether a step of a completed run was skipped, or ran, as its definition says. `versions`: any of those that its run may have followed. */
export function checkBranch(
  end: { readonly versions: readonly WorkflowDefinition[]; readonly steps: Rows; readonly step: StepRecord },
  broken: (violation: string) => void,
): void {
  const { steps, step } = end
  if (isItem(step.step)) return checkItem(steps, step, broken)
  const versions = end.versions.filter(({ graph }) => graph.numberOf(step.name) !== undefined)
  const skip = skipOf(step.branch)
  if (step.status !== 'skipped') {
    if (skip !== undefined) broken(`is ${step.status}, and its branch is ${step.branch}`)
    const reasons = versions.map((definition) => whySkipped(definition, step.name, steps))
    if (!reasons.includes(undefined)) broken(`is ${step.status}, although ${reasons[0]}`)
    return
  }
  if (skip === undefined) return
  const isRight = versions.some((definition) => {
    const { when, limits } = definition.steps[definition.graph.numberOf(step.name)!]!
    if (skip.because === 'limit')
      return limits?.some(({ name, atLimit }) => name === skip.limit && atLimit === 'skip')
    if (skip.because === 'when') return when?.by === 'function'
    return whySkipped(definition, step.name, steps) !== undefined
  })
  if (!isRight) broken(`was skipped for no reason: its branch is ${step.branch}`)
}

/** An item is skipped only by an operator, or with its map. A round that is left of an earlier time is skipped if its loop fails to begin again. */
function checkItem(steps: Rows, item: StepRecord, broken: (violation: string) => void): void {
  if (item.branch === null) return
  const map = steps[mapOf(item.step)]!
  if (item.status === 'skipped' && map.status === 'skipped' && map.branch === item.branch) return
  const isLeft = map.status === 'failed' && skipOf(item.branch)?.because === 'outcome'
  if (item.status === 'skipped' && isLeft) return
  broken(`is ${item.status} with the branch ${item.branch}; its map is ${map.status} with ${map.branch}`)
}

/** What was decided about each step of each run, with the fence of the attempt that recorded it. */
export class Decisions {
  readonly #byStep = new Map<string, { readonly branch: string; readonly fence: number }>()

  /** Returns a violation if the step was decided before: it is decided once in each round. */
  recorded(step: string, outcome: Outcome): string | undefined {
    if (outcome.type !== 'decided' && outcome.type !== 'skipped') return undefined
    const { branch, fence } = outcome
    const before = this.#byStep.get(step)
    this.#byStep.set(step, { branch, fence })
    // An attempt whose answer was lost records the same again.
    if (before === undefined || before.fence === fence) return undefined
    return `${step} was decided twice: ${before.branch}, then ${branch}`
  }

  /** The run was deleted: a start that is repeated makes another run of that id. */
  forgetRun(runId: string): void {
    for (const step of this.#byStep.keys()) if (step.startsWith(`${runId}/`)) this.#byStep.delete(step)
  }

  /** The step decides anew: an operator sent it forward with what it builds on. */
  forget(step: string): void {
    this.#byStep.delete(step)
  }
}
