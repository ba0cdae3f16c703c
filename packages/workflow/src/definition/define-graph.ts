import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { TransactionOptions } from '../adapter/transaction.ts'
import type { Duration } from '../duration.ts'
import { checkStepName, checkWorkflowName } from '../graph/check.ts'
import { type MermaidOptions, toMermaid } from '../graph/mermaid.ts'
import { didYouMean } from '../graph/nearest.ts'
import { definitionError, listed, type Place } from '../graph/place.ts'
import { compileDefinition, definitionHead } from './compile.ts'
import { type GraphWait, graphWaitDraft, isGraphWait } from './graph-wait.ts'
import { validateInput } from './input-schema.ts'
import { checkOptionNames, shown } from './option-check.ts'
import { RETRY_OPTION_NAMES, type RetryOptions } from './retry-policy.ts'
import type {
  CompensationContext,
  CompensationHandler,
  Handler,
  StepContext,
  TransactionContext,
} from './step.ts'
import {
  DEFAULT_POLICY,
  type StepDraft,
  type StepPolicy,
  stepDraft,
  stepPolicy,
  type UntypedCompensateOptions,
} from './step-draft.ts'
import type { CompensateOn, StepDefaults } from './step-options.ts'
import type { StorableSchema } from './storable.ts'
import type { Stored } from './stored.ts'
import type { TypedDefinition } from './typed-workflow.ts'
import type { ReceivesAnything } from './wait-options.ts'

/** A graph as data: everything but `input` may come from JSON. Retry options and timeouts given here hold for every step. */
export interface GraphOptions<Schema extends StandardSchemaV1> extends GraphStepDefaults {
  /** Default 1. */
  readonly version?: number | undefined
  /** Any Standard Schema, or `unchecked<Type>()`. */
  readonly input?: (Schema & StorableSchema<Schema>) | undefined
  /** How long a run may take from its start; then it fails with that as its cause, and is undone. Default: as long as it likes. */
  readonly deadline?: Duration | undefined
  readonly steps: Readonly<Record<string, GraphStep | GraphWait>>
  /** For each step the steps it depends on. A step left out depends on none. */
  readonly dag: Readonly<Record<string, readonly string[]>>
}

export interface GraphAttemptOptions extends RetryOptions {
  /** How long one attempt may take; `false` for no limit. */
  readonly timeout?: Duration | false | undefined
}

export interface GraphStepDefaults extends GraphAttemptOptions {
  readonly lossesMax?: number | undefined
}

export interface GraphStep extends GraphStepDefaults {
  /** The name of the handler that does the work. */
  readonly handler: string
  /** The name of the handler that undoes it, alone or with options of its own. */
  readonly compensate?: string | GraphCompensation | undefined
  readonly compensateOn?: CompensateOn | undefined
  /** Runs the handler in a transaction of the store, which it finds as `tx`. */
  readonly transaction?: boolean | TransactionOptions | undefined
}

export interface GraphCompensation extends GraphAttemptOptions {
  readonly handler: string
  readonly transaction?: boolean | TransactionOptions | undefined
}

/** Handlers by the names that a graph as data uses, for steps and compensations alike. */
export type GraphHandlers<Input> = Readonly<Record<string, GraphHandler<Input>>>

// Written as a method, which lets a handler declare `deps` and `output` as what it knows them to be: data has no types of its own.
type GraphHandler<Input> = { handle(context: GraphHandlerContext<Input>): unknown }['handle']

/** What a handler of a graph as data is given: `tx` in a transaction, and what is undone only when it compensates. */
export interface GraphHandlerContext<Input>
  extends StepContext<Input>,
    Partial<TransactionContext>,
    Partial<UndoFields> {}

type UndoFields = Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'>

/**
 * A definition from a graph as data. Without `handlers` it can be started, but not worked on (`runnable` is false).
 *
 * @throws DefinitionError that says what is wrong, where, and the nearest valid name.
 */
export function defineGraph<const Name extends string, Schema extends StandardSchemaV1 = StandardSchemaV1>(
  name: Name,
  graph: GraphOptions<Schema>,
  handlers?: GraphHandlers<Stored<StandardSchemaV1.InferOutput<Schema>>>,
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
  })
  checkStepsAndDag(place, graph)
  if (handlers !== undefined) checkHandlers(place, handlers)

  const defaults = stepPolicy(place, nested(graph), DEFAULT_POLICY)
  const drafts = Object.keys(graph.steps).map((step) =>
    graphStepDraft({ name, step, graph, handlers, defaults }),
  )
  const definition = {
    name,
    version: head.version,
    deadlineMs: head.deadlineMs,
    ...compileDefinition(head, drafts),
    validate: (input: unknown) => validateInput(name, head.schema, input),
    toMermaid: (options?: MermaidOptions) => toMermaid(definition, options),
  }
  return Object.freeze(definition)
}

const ATTEMPT_OPTION_NAMES = [...RETRY_OPTION_NAMES, 'timeout'] as const
const GRAPH_OPTION_NAMES = [
  'version',
  'input',
  'deadline',
  'steps',
  'dag',
  ...ATTEMPT_OPTION_NAMES,
  'lossesMax',
] as const
const STEP_OPTION_NAMES = [
  'handler',
  'compensate',
  'compensateOn',
  'transaction',
  ...ATTEMPT_OPTION_NAMES,
  'lossesMax',
] as const
const COMPENSATION_OPTION_NAMES = ['handler', 'transaction', ...ATTEMPT_OPTION_NAMES] as const

export type { GraphWait } from './graph-wait.ts'

type HandlersByName = Readonly<Record<string, unknown>>

function checkStepsAndDag(place: Place, graph: { readonly steps: unknown; readonly dag: unknown }): void {
  checkRecord(place, 'steps', graph.steps, 'one entry for each step')
  checkRecord(place, 'dag', graph.dag, 'the dependencies of each step; {} when there are none')
  const names = Object.keys(graph.steps)
  for (const [name, dependsOn] of Object.entries(graph.dag)) {
    if (!Object.hasOwn(graph.steps, name)) {
      throw definitionError(
        place,
        `dag has an entry for "${name}", which is not in steps.${didYouMean(name, names)} Steps: ${listed(names)}.`,
      )
    }
    if (!Array.isArray(dependsOn)) {
      throw definitionError(
        { ...place, step: name },
        `its entry in dag is ${shown(dependsOn)}, and must be an array of names of steps.`,
      )
    }
  }
}

function checkRecord(
  place: Place,
  option: string,
  given: unknown,
  content: string,
): asserts given is Readonly<Record<string, unknown>> {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  throw definitionError(place, `${option} is ${shown(given)}, and must be an object with ${content}.`)
}

function checkHandlers(place: Place, handlers: unknown): void {
  checkRecord(place, 'handlers', handlers, 'functions by name')
  for (const [name, handler] of Object.entries(handlers)) {
    if (typeof handler === 'function') continue
    throw definitionError(place, `handler "${name}" is ${shown(handler)}, and must be a function.`)
  }
}

function graphStepDraft(entry: {
  readonly name: string
  readonly step: string
  readonly graph: Pick<GraphOptions<StandardSchemaV1>, 'steps' | 'dag'>
  readonly handlers: HandlersByName | undefined
  readonly defaults: StepPolicy
}): StepDraft {
  const { name: workflow, step: name, graph, handlers, defaults } = entry
  checkStepName(workflow, name)
  const place = { workflow, step: name }
  const step: unknown = graph.steps[name]
  const dependsOn = Object.hasOwn(graph.dag, name) ? (graph.dag[name] as readonly string[]) : []
  if (isGraphWait(step)) {
    const handler = (given: unknown) => handlerNamed({ place, option: 'poll', name: given, handlers })
    return graphWaitDraft(place, step, { dependsOn, handler, defaults })
  }
  checkOptionNames(place, 'the step', step, STEP_OPTION_NAMES)
  const options = {
    ...nested(step),
    dependsOn,
    run: handlerNamed({ place, option: 'handler', name: step['handler'], handlers }) as Handler | null,
    compensate: graphCompensation(place, step['compensate'] as GraphStep['compensate'], handlers),
    compensateOn: step['compensateOn'] as GraphStep['compensateOn'],
    transaction: step['transaction'] as GraphStep['transaction'],
  }
  return stepDraft(workflow, name, options, defaults)
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
  return { ...nested(options), transaction: options.transaction, run: run as CompensationHandler | null }
}

function handlerNamed(lookup: {
  readonly place: Place
  readonly option: string
  readonly name: unknown
  readonly handlers: HandlersByName | undefined
}): unknown {
  const { place, option, name, handlers } = lookup
  if (typeof name !== 'string' || name === '') {
    throw definitionError(place, `${option} is ${shown(name)}, and must be the name of a handler.`)
  }
  if (handlers === undefined) return null
  // Own properties only: a step must not find Object.prototype.toString.
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
  if (handler !== undefined) return handler
  const names = Object.keys(handlers)
  throw definitionError(
    place,
    `${option} names "${name}", but there is no such handler.${didYouMean(name, names)} Handlers: ${listed(names) || 'none'}.`,
  )
}

/** Data has its retry options beside the rest, code has them under `retry`. */
function nested(flat: GraphStepDefaults): StepDefaults {
  const { attempts, retries, backoff, initial, max, jitter, for: forTime, timeout, lossesMax } = flat
  const retry = { attempts, retries, backoff, initial, max, jitter, for: forTime }
  return { retry, timeout, lossesMax }
}
