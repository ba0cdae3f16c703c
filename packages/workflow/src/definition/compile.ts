import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { DefinitionShape, StepShape } from '../adapter/records.ts'
import { STEP_KINDS } from '../adapter/step-kinds.ts'
import { buildGraph } from '../graph/build.ts'
import type { StepGraph } from '../graph/graph.ts'
import { parallelToPivot } from '../graph/pivots.ts'
import { definitionError } from '../graph/place.ts'
import { definitionRecord, type StepFacts } from '../graph/record.ts'
import { skippableSteps } from '../graph/skippable.ts'
import { checkSchema } from './input-schema.ts'
import { type LimitPolicy, limitsOf } from './limit.ts'
import { positiveMs, wholeNumber } from './option-check.ts'
import { priorityOf } from './priority-option.ts'
import { type StartPolicy, startPolicy } from './start-policy.ts'
import type { BranchPolicy, StepDefinition } from './step.ts'
import { itemOf, type StepDraft } from './step-draft.ts'
import type { WorkflowDefinition } from './workflow.ts'

/** What all steps of a definition share. */
export interface DefinitionHead {
  readonly name: string
  readonly version: number
  readonly schema: StandardSchemaV1 | undefined
  readonly deadlineMs: number | null
  readonly priority: number
  /** Ends of its runs start follow-ups. */
  readonly endSteps?: true
  /** How calls are collected into runs; null if each call starts one. */
  readonly start: StartPolicy | null
  /** What its runs enter. Default: nothing. */
  readonly limits?: readonly LimitPolicy[]
}

/** The largest version. */
export const VERSION_MAX = 2_147_483_647

/** Checks what all steps share. The caller has checked `name`. */
export function definitionHead(
  name: string,
  options: {
    readonly version: unknown
    readonly input?: StandardSchemaV1 | undefined
    readonly deadline?: unknown
    readonly priority?: unknown
    readonly start?: unknown
    readonly limits?: readonly LimitPolicy[] | undefined
  },
): DefinitionHead {
  const version = wholeNumber({ workflow: name }, 'version', options.version, { min: 1, max: VERSION_MAX })
  checkRefusing(name, options)
  if (options.input !== undefined) checkSchema({ workflow: name }, 'input', options.input)
  return {
    ...{ name, version, schema: options.input, deadlineMs: deadlineMs(name, options.deadline) },
    priority: priorityOf({ workflow: name }, options.priority),
    start: options.start === undefined ? null : startPolicy({ workflow: name }, options.start),
    limits: options.limits ?? NO_LIMITS,
  }
}

function checkRefusing(
  workflow: string,
  { start, limits }: { readonly start?: unknown; readonly limits?: readonly LimitPolicy[] | undefined },
): void {
  if (start === undefined || !limits?.some(({ atLimit }) => atLimit === 'refuse')) return
  throw definitionError(
    { workflow },
    "concurrency.atLimit is 'refuse', and the definition has start: a call that is collected starts no run that could be refused. Remove start, or use 'wait' or 'skip'.",
  )
}

function deadlineMs(workflow: string, given: unknown): number | null {
  return given === undefined ? null : positiveMs({ workflow }, 'deadline', given)
}

/** The parts of a definition that can be computed only from all its steps. */
export type CompiledDefinition = Pick<WorkflowDefinition, 'steps' | 'graph' | 'record' | 'runnable'>

/**
 * Numbers the steps and makes the definition's graph and record.
 *
 * @throws DefinitionError for everything {@link buildGraph} refuses.
 */
export function compileDefinition(head: DefinitionHead, drafts: readonly StepDraft[]): CompiledDefinition {
  const graph = buildGraph(head.name, drafts)
  const byNumber: StepDraft[] = new Array(drafts.length)
  for (const draft of drafts) byNumber[graph.numberOf(draft.name)!] = draft
  const record = definitionRecord({
    name: head.name,
    version: head.version,
    graph,
    facts: (number) => factsOf(byNumber[number]!),
    endSteps: head.endSteps,
    collects: head.start?.collect.mode,
    refuses: head.limits?.some(({ atLimit }) => atLimit === 'refuse') || undefined,
    priority: head.priority,
  })
  const pivots = [...byNumber.keys()].filter((number) => byNumber[number]!.pivot)
  const misplaced = parallelToPivot(head.name, graph, pivots)
  if (misplaced !== undefined) throw misplaced
  const branches = branchPolicies(graph, byNumber, record.shape)
  let pivotsBefore: readonly number[] = NONE
  const steps = byNumber.map((draft, number) => {
    const settled = settledOf(graph.dependencies[number]!, byNumber)
    const placed = { number, pivotsBefore, branch: branches[number] ?? null, settled }
    const step = numbered(draft, placed, head)
    if (draft.pivot) pivotsBefore = Object.freeze([...pivotsBefore, number])
    return step
  })
  return Object.freeze({ steps: Object.freeze(steps), graph, record, runnable: steps.every(hasHandlers) })
}

const NONE: readonly number[] = Object.freeze([])

/** A map's items and a loop's rounds are executed as the opener says, under its number. Nothing decides about one of them. */
function numbered(draft: StepDraft, placed: Placed, head: DefinitionHead): StepDefinition {
  const { map } = draft
  const limits = limitsOf({ workflow: head.name, step: draft.name }, head.limits ?? NO_LIMITS, draft.limits)
  if (map?.part !== 'map' && map?.part !== 'repeat')
    return Object.freeze({ ...draft, ...placed, map, limits })
  const item = numbered(map.item, { ...placed, branch: null }, head)
  return Object.freeze({ ...draft, ...placed, map: Object.freeze({ ...map, item }), limits })
}

const NO_LIMITS: readonly LimitPolicy[] = Object.freeze([])

function settledOf(dependencies: readonly number[], steps: readonly StepDraft[]): readonly number[] | null {
  const settled = dependencies.filter((number) => steps[number]!.onFailure === 'continue')
  return settled.length === 0 ? null : Object.freeze(settled)
}

/** What a step gets from its graph. */
type Placed = Pick<StepDefinition, 'number' | 'branch' | 'pivotsBefore' | 'settled'>

/** What has the handlers: of a map its items, of a loop its rounds. */
function executed<Step extends StepDraft | StepDefinition>(step: Step): Step {
  return (itemOf(step) as Step | undefined) ?? step
}

function factsOf(draft: StepDraft): StepFacts {
  const { when, onSkipped, cases, pivot } = draft
  const { onFailure, irreversible, wait } = executed(draft)
  return {
    compensate: (draft.compensation ?? executed(draft).compensation)?.on ?? 'never',
    compensateAll: draft.map?.part === 'map' && draft.compensation !== null ? true : undefined,
    children: draft.wait === null && wait?.kind === 'child' ? true : undefined,
    kind: kindOf(draft),
    cases: cases ?? undefined,
    when: when === null ? undefined : when.by === 'cases' ? when.cases : when.by,
    onSkipped: onSkipped === 'run' ? onSkipped : undefined,
    onFailure: onFailure === 'continue' ? onFailure : undefined,
    irreversible: irreversible || undefined,
    pivot: pivot || undefined,
    priority: draft.priority,
  }
}

function kindOf({ wait, map, cases }: Pick<StepDraft, 'wait' | 'map' | 'cases'>): StepShape['kind'] {
  const part = map?.part === 'round' ? undefined : map?.part
  return wait?.kind ?? part ?? (cases === null ? undefined : 'choose')
}

/** For each step that may be skipped, what decides that. Undefined for the others. */
function branchPolicies(
  graph: StepGraph,
  steps: readonly StepDraft[],
  shape: DefinitionShape,
): readonly (BranchPolicy | undefined)[] {
  const skippable = skippableSteps(shape)
  return steps.map(({ when, onSkipped }, number) => {
    if (!skippable[number]) return undefined
    const cases = when?.by === 'cases' ? when.cases : []
    const choices = cases.map(({ choice, ...rest }) => {
      const step = graph.numberOf(choice)!
      return { step, ...rest, ofOutcome: steps[step]!.onFailure === 'continue' }
    })
    // Without its choice nothing says that the step should run.
    const skips = (dependency: number) =>
      onSkipped === 'skip' || choices.some(({ step }) => step === dependency)
    return Object.freeze({
      when: when?.by === 'function' ? when.run : undefined,
      cases: choices,
      skippedWith: graph.dependencies[number]!.filter((other) => skippable[other] && skips(other)),
    })
  })
}

function hasHandlers(step: StepDefinition): boolean {
  const { needsHandler } = STEP_KINDS[kindOf(step) ?? 'work']
  const { run, compensation, map, wait } = executed(step)
  if (needsHandler && step.run === null) return false
  if ((wait?.kind === 'child' ? wait.computesInput : needsHandler) && run === null) return false
  if (map?.part === 'round' && map.until === null) return false
  if ([...(step.limits ?? []), ...(executed(step).limits ?? [])].some(({ keyOf }) => keyOf === null))
    return false
  return compensation?.run !== null && step.compensation?.run !== null && step.branch?.when !== null
}
