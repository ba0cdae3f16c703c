import type { StandardSchemaV1 } from '@standard-schema/spec'
import { checkDependencies, checkStepName, checkWorkflowName, type KnownSteps } from '../graph/check.ts'
import { type MermaidOptions, toMermaid } from '../graph/mermaid.ts'
import { definitionError, listed, type Place } from '../graph/place.ts'
import { Problems } from '../graph/problems.ts'
import { isArray } from '../is-array.ts'
import { nearest, offered } from '../nearest.ts'
import { readOptions } from '../options/index.ts'
import { compileDefinition, definitionHead } from './compile.ts'
import { checkCases, choicesOf } from './condition.ts'
import { graphChildLoopDrafts, isGraphChildLoop } from './graph-child-loop.ts'
import { type GraphParts, graphChoiceDraft, graphCondition, isGraphChoice } from './graph-condition.ts'
import { graphFollowUp } from './graph-ends.ts'
import { graphFanDrafts, isGraphFan } from './graph-fan.ts'
import { checkHandlers, type HandlersByName, handlerNamed } from './graph-handlers.ts'
import { graphLoopDrafts, isGraphLoop } from './graph-loop.ts'
import { graphMapDrafts, isGraphMap } from './graph-map.ts'
import {
  COMPENSATION_OPTION_NAMES,
  GRAPH_OPTION_NAMES,
  ITEM_OPTION_NAMES,
  nested,
  STEP_OPTION_NAMES,
} from './graph-option-names.ts'
import type { GraphCompensation, GraphHandlers, GraphOptions, GraphStep } from './graph-options.ts'
import { checkRecord } from './graph-record.ts'
import { graphWaitDraft, isGraphWait } from './graph-wait.ts'
import type { CompensationHandler, Handler } from './handler.ts'
import { validateInput } from './input-schema.ts'
import { type LimitKey, limitPolicies } from './limit.ts'
import { checkOptionNames, shown } from './option-check.ts'
import {
  DEFAULT_POLICY,
  itemOf,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  stepPolicy,
  type UntypedCompensateOptions,
  type UntypedStepOptions,
} from './step-draft.ts'
import type { Stored } from './stored.ts'
import type { TypedDefinition } from './typed-definition.ts'
import type { ReceivesAnything } from './wait-options.ts'

/**
 * Makes a definition from a graph as data. Without `handlers`, this process can start its runs but not execute their steps (`runnable` is false).
 *
 * @throws DefinitionError that says what is wrong, where, and the nearest valid name.
 */
export function defineGraph<
  const Name extends string,
  Schema extends StandardSchemaV1 = StandardSchemaV1,
  const StepName extends string = string,
  const HandlerName extends string = string,
  const Dependent extends string = never,
  const Dependency extends string = never,
>(
  name: Name,
  graph: GraphOptions<Schema, StepName, HandlerName, Dependent, Dependency>,
  handlers?: GraphHandlers<Stored<StandardSchemaV1.InferOutput<Schema>>, NoInfer<HandlerName>>,
): TypedDefinition<
  Name,
  StandardSchemaV1.InferInput<Schema>,
  Readonly<Record<string, unknown>>,
  ReceivesAnything
> {
  checkWorkflowName(name)
  const place = { workflow: name }
  checkOptionNames(place, 'the graph', graph, GRAPH_OPTION_NAMES)
  const head = definitionHead(name, {
    version: graph.version ?? 1,
    input: graph.input,
    deadline: graph.deadline,
    priority: graph.priority,
    start: graph.start,
    limits: limitPolicies(place, graph, {
      of: 'run',
      keyOf: (option, given) => handlerNamed({ place, option, name: given, handlers }) as LimitKey | null,
    }),
  })
  const followUp = graphFollowUp(head, graph.ends, {
    defaults: stepPolicy(place, nested(graph), DEFAULT_POLICY),
    handlerOf: (at, option, given) => handlerNamed({ place: at, option, name: given, handlers }),
  })
  const drafts = graphDrafts(name, graph as unknown as UntypedGraph, handlers)
  const definition = {
    name,
    version: head.version,
    deadlineMs: head.deadlineMs,
    priority: head.priority,
    start: head.start,
    followUp,
    ...compileDefinition(followUp === null ? head : { ...head, endSteps: true }, drafts),
    validate: (input: unknown) => validateInput(name, head.schema, input),
    toMermaid: (options?: MermaidOptions) => toMermaid(definition, options),
  }
  return Object.freeze(definition)
}

type UntypedGraph = GraphOptions<StandardSchemaV1>

type Untyped = Readonly<Record<string, unknown>>

/** Checks the steps. Throws one error with all their problems. */
function graphDrafts(
  workflow: string,
  graph: UntypedGraph,
  handlers: HandlersByName | undefined,
): readonly StepDraft[] {
  const place = { workflow }
  checkRecord(place, 'steps', graph.steps, 'one entry for each step')
  checkRecord(place, 'dag', graph.dag, 'the dependencies of each step; {} when there are none')
  if (handlers !== undefined) checkHandlers(place, handlers)
  const defaults = stepPolicy(place, nested(graph), DEFAULT_POLICY)
  const problems = new Problems(workflow)
  const names = Object.keys(graph.steps)
  const valid = validNames(workflow, names, problems)
  for (const entry of Object.entries(graph.dag)) problems.collect(() => checkDagEntry(place, entry, names))
  const drafts = valid.flatMap(
    (step) =>
      problems.collect(() => graphStepDrafts({ name: workflow, step, graph, handlers, defaults })) ?? [],
  )
  const known = { has: (name: string) => Object.hasOwn(graph.steps, name), names: () => names }
  for (const name of names) {
    problems.collect(() => checkDependencies(workflow, { name, dependsOn: listOf(graph, name) }, known))
  }
  const byName = new Map(drafts.map((draft) => [draft?.name, draft]))
  for (const draft of drafts) {
    if (draft !== undefined) problems.collect(() => checkConditions(place, draft, byName, known))
  }
  problems.throwIfAny()
  return drafts
}

function validNames(workflow: string, names: readonly string[], problems: Problems): readonly string[] {
  const taken = new Set(names)
  return names.filter((name) => {
    const before = problems.count
    problems.collect(() => checkStepName(workflow, name, taken))
    return problems.count === before
  })
}

/** The dependencies of a step. Empty when its entry is not an array: {@link checkDagEntry} reports that. */
function listOf({ dag }: Pick<UntypedGraph, 'dag'>, name: string): readonly string[] {
  const given: unknown = Object.hasOwn(dag, name) ? dag[name] : undefined
  return isArray<string>(given) ? given : []
}

function checkDagEntry(
  place: Place,
  [name, dependsOn]: readonly [string, unknown],
  names: readonly string[],
): void {
  if (!names.includes(name)) {
    const suggestion = nearest(name, names)
    throw definitionError(
      place,
      `dag has an entry for "${name}", which is not in steps.${offered(suggestion)} Its steps are ${listed(names)}.`,
      { kind: 'unknown_step', name, suggestion },
    )
  }
  if (!isArray<string>(dependsOn)) {
    throw definitionError(
      { ...place, step: name },
      `its entry in dag is ${shown(dependsOn)}, and must be an array of names of steps.`,
    )
  }
}

function graphStepDrafts(entry: {
  readonly name: string
  readonly step: string
  readonly graph: Pick<UntypedGraph, 'steps' | 'dag'>
  readonly handlers: HandlersByName | undefined
  readonly defaults: StepPolicy
}): readonly StepDraft[] {
  const { name: workflow, step: name, graph, handlers, defaults } = entry
  checkStepName(workflow, name)
  const place = { workflow, step: name }
  const step: unknown = graph.steps[name]
  const dependsOn = listOf(graph, name)
  checkNoDependencies(place, step)
  const handler: GraphParts['handler'] = (option, name) => handlerNamed({ place, option, name, handlers })
  if (isGraphFan(step)) return graphFanDrafts(place, step, { dependsOn, handler, defaults })
  if (isGraphChildLoop(step)) return graphChildLoopDrafts(place, step, { dependsOn, handler, defaults })
  if (isGraphWait(step)) return [graphWaitDraft(place, step, { dependsOn, handler, defaults })]
  if (isGraphChoice(step)) return [graphChoiceDraft(place, step, { dependsOn, handler, defaults })]
  const optionsOf = (options: Untyped) => handlerOptions(place, options, dependsOn, handlers)
  const parts = { optionNames: ITEM_OPTION_NAMES, item: optionsOf, handler, defaults }
  if (isGraphMap(step)) return graphMapDrafts(place, step, parts)
  if (isGraphLoop(step)) return graphLoopDrafts(place, step, parts)
  checkOptionNames(place, 'the step', step, [...STEP_OPTION_NAMES, 'onFailure'])
  return [stepDraft(workflow, name, optionsOf(step), defaults)]
}

/** The options of a step that works, with its handlers found. */
function handlerOptions(
  place: Place,
  step: Untyped,
  dependsOn: readonly string[],
  handlers: HandlersByName | undefined,
): UntypedStepOptions {
  const handler: GraphParts['handler'] = (option, name) => handlerNamed({ place, option, name, handlers })
  return {
    ...nested(step),
    ...graphCondition(step, handler),
    dependsOn,
    run: handler('handler', step['handler']) as Handler | null,
    compensate: graphCompensation(place, step['compensate'] as GraphStep['compensate'], handlers),
    compensateOn: step['compensateOn'] as GraphStep['compensateOn'],
    transaction: step['transaction'] as GraphStep['transaction'],
    onFailure: step['onFailure'],
    heartbeatTimeout: step['heartbeatTimeout'],
    concurrency: step['concurrency'],
    rateLimit: step['rateLimit'],
    limitKeyOf: (option, given) => handler(option, given) as LimitKey | null,
    irreversible: step['irreversible'],
    pivot: step['pivot'],
  }
}

/** Refuses the choices and cases of a step's `when` that do not exist. */
function checkConditions(
  { workflow }: Place,
  { name: row, when, map }: StepDraft,
  byName: ReadonlyMap<string | undefined, StepDraft | undefined>,
  known: KnownSteps,
): void {
  const name = itemOf<StepDraft>({ map })?.name ?? row
  checkDependencies(workflow, { name, dependsOn: choicesOf(when) }, known)
  checkCases({ workflow, step: name }, when, (choice) => byName.get(choice))
}

/** Other workflow formats put a step's dependencies in the step: the error tells where they belong here. */
function checkNoDependencies(place: Place & { readonly step: string }, step: unknown): void {
  const options = readOptions(step) ?? {}
  const key = ['dependsOn', 'needs', 'depends_on', 'after'].find((name) => name in options)
  if (key === undefined) return
  throw definitionError(
    place,
    `the step has no option "${key}". The dependencies of all steps are in dag: ${JSON.stringify({ dag: { [place.step]: ['a'] } })} makes it depend on "a".`,
  )
}

function graphCompensation(
  place: Place,
  given: GraphStep['compensate'],
  handlers: HandlersByName | undefined,
): UntypedCompensateOptions | undefined {
  if (given === undefined) return undefined
  const options: GraphCompensation = typeof given === 'string' ? { handler: given } : given
  checkOptionNames(place, 'compensate', options, COMPENSATION_OPTION_NAMES)
  const run = handlerNamed({ place, option: 'compensate', name: options.handler, handlers })
  const { transaction, heartbeatTimeout } = options
  return { ...nested(options), transaction, heartbeatTimeout, run: run as CompensationHandler | null }
}
