import {
  type Claim,
  isItem,
  itemIndex,
  type JsonText,
  type NewItem,
  type StepPayloads,
  type UndoneStatus,
} from '../../adapter/index.ts'
import type { RunCause, SerialisedError } from '../../cause.ts'
import type { CompensationContext, StepContext } from '../../definition/handler.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { type Logger, silentLogger } from '../../logger.ts'
import { idempotencyKey } from '../base/idempotency-key.ts'
import { fromJsonText } from '../base/payload.ts'
import type { ForwardPayloads } from '../base/payload-cache.ts'
import type { AttemptPayloads } from './attempt-payloads.ts'
import type { Telling } from './telling.ts'

/** The attempt, as its handler's context sees it. */
export interface ContextSource {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  readonly signal: AbortSignal
  beat(): void
  tell(): Telling
}

/** What the attempt has read. */
interface ReadPayloads {
  readonly forward: ForwardPayloads
  readonly item: NewItem | undefined
  readonly lastHeartbeat: JsonText
}

/** Makes the context of a handler, for either direction. */
export function contextOf(
  source: ContextSource,
  payloads: ReadPayloads & Pick<AttemptPayloads, 'own' | 'stored' | 'undoneItems'>,
  log: Logger,
): StepContext {
  const context = handlerContext(source, payloads, log)
  if (source.claim.direction === 'forward') return context
  return Object.assign(context, undoFieldsOf(source.step, source.claim, payloads))
}

function handlerContext(source: ContextSource, payloads: ReadPayloads, log: Logger): StepContext {
  const { claim, definition, step } = source
  const item = isItem(claim.step) ? payloads.item : undefined
  // What all items of a map get is parsed only if an item reads it: thousands of items may share a large input.
  const isLazy = item !== undefined && sizeOf(payloads.forward) > LAZY_FROM_CHARS
  const context = new HandlerContext(source, payloads, isLazy ? NOTHING : payloads.forward, log)
  if (item === undefined) return context
  if (isLazy) {
    const { input, outputs } = payloads.forward
    defineLazily(context, 'input', () => fromJsonText(input))
    defineLazily(context, 'deps', () => dependencyOutputs(definition, step.number, outputs))
  }
  const { key: itemKey, value } = item
  const index = itemIndex(claim.step)
  if (step.map?.part === 'round')
    return Object.assign(context, { round: index + 1, last: fromJsonText(value) })
  return Object.assign(context, { item: fromJsonText(value), itemKey, index })
}

/** Payloads that are longer together, in characters of JSON text, are parsed when they are first read. */
const LAZY_FROM_CHARS = 1_000
const NOTHING: ForwardPayloads = { input: null, outputs: [] }

function sizeOf({ input, outputs }: ForwardPayloads): number {
  return outputs.reduce((sum, output) => sum + (output?.length ?? 0), input?.length ?? 0)
}

/** An own property like the others, so that handlers can destructure or spread the context. */
function defineLazily(context: StepContext, name: 'input' | 'deps', parse: () => unknown): void {
  const property = { enumerable: true, configurable: true }
  const get = () => {
    const value = parse()
    Object.defineProperty(context, name, { ...property, value, writable: true })
    return value
  }
  Object.defineProperty(context, name, { ...property, get })
}

/** What a compensation is given besides. */
function undoFieldsOf(
  { map }: StepDefinition,
  claim: Claim,
  payloads: Pick<AttemptPayloads, 'own' | 'stored' | 'undoneItems'>,
): object {
  const { cause } = payloads.stored
  return map === null || map.part === 'round'
    ? undoFields(claim, payloads.own, cause)
    : undoneItemsFields(payloads.undoneItems, cause)
}

/** `own`: the row of the step that is undone. */
function undoFields(
  { undoOf }: Pick<Claim, 'undoOf'>,
  own: Pick<StepPayloads, 'output' | 'error'>,
  cause: JsonText,
): Pick<CompensationContext, 'undoOf' | 'output' | 'error' | 'cause'> {
  // A step that succeeded and was then skipped by an operator counts as completed, with the operator's output.
  const completed = undoOf === 'completed' || undoOf === 'skipped'
  return {
    undoOf: completed ? 'completed' : (undoOf as CompensationContext['undoOf']),
    output: completed ? fromJsonText(own.output) : undefined,
    error: completed ? undefined : (fromJsonText(own.error) as SerialisedError | undefined),
    cause: fromJsonText(cause) as RunCause,
  }
}

/** For the compensation of all items of a map. */
function undoneItemsFields(items: readonly StepPayloads[], cause: JsonText): object {
  return {
    cause: fromJsonText(cause),
    items: items.map((row) => {
      const undoOf = row.undoneStatus as UndoneStatus
      const { cause: _, ...undone } = undoFields({ undoOf }, row, null)
      return {
        item: fromJsonText(row.item!.value),
        itemKey: row.item!.key,
        index: itemIndex(row.step),
        ...undone,
      }
    }),
  }
}

/** Parsed for every attempt: a handler that mutates its input must not affect others. */
function dependencyOutputs(
  { graph }: WorkflowDefinition,
  step: number,
  outputs: readonly JsonText[],
): Readonly<Record<string, unknown>> {
  const deps: Record<string, unknown> = {}
  graph.dependencies[step]!.forEach((dependency, index) => {
    deps[graph.names[dependency]!] = fromJsonText(outputs[index] ?? null)
  })
  return deps
}

/**
 * Makes the signal on first use: most handlers never use it. It is an own property like the others, so that handlers can destructure or spread the
 * context. A worker makes one context for each attempt: each function here costs memory, each accessor would cost ten times as much.
 */
class HandlerContext implements StepContext {
  static readonly #signal: PropertyDescriptor & ThisType<HandlerContext> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#source.signal
    },
  }
  readonly runId: string
  readonly step: string
  readonly input: unknown
  readonly deps: Readonly<Record<string, unknown>>
  readonly attempt: number
  readonly idempotencyKey: string
  readonly log: Logger
  declare readonly signal: AbortSignal
  readonly publish: StepContext['publish']
  readonly progress: StepContext['progress']
  readonly heartbeat: StepContext['heartbeat']
  readonly lastHeartbeat: unknown
  readonly #source: ContextSource

  /** `forward` instead of what the payloads have: nothing, if it is parsed later. They cannot be copied, since they have getters. */
  constructor(
    source: ContextSource,
    payloads: Pick<ReadPayloads, 'lastHeartbeat'>,
    forward: ForwardPayloads,
    log: Logger,
  ) {
    const { claim, definition, step } = source
    this.runId = claim.runId
    this.step = step.name
    this.input = fromJsonText(forward.input)
    this.deps = dependencyOutputs(definition, step.number, forward.outputs)
    this.attempt = claim.attempt
    this.idempotencyKey = idempotencyKey(claim, step.name)
    this.log = log === silentLogger ? log : logOf(source, log)
    this.publish = (key, value) => told(this.log, () => source.tell().publish(key, value))
    this.progress = (done, total, note) => told(this.log, () => source.tell().progress(done, total, note))
    this.heartbeat = (details) => told(this.log, () => beat(source, details))
    this.lastHeartbeat = claim.attempt === 1 ? undefined : fromJsonText(payloads.lastHeartbeat)
    this.#source = source
    Object.defineProperty(this, 'signal', HandlerContext.#signal)
  }
}

/** A heartbeat whose details are refused shows that the handler is alive all the same. */
function beat(source: ContextSource, details: unknown): void {
  source.beat()
  source.tell().heartbeat(details)
}

/** A refusal rejects. If nobody awaits it, it must not end the process: then the log tells it. */
function told(log: Logger, tell: () => void): Promise<void> {
  try {
    tell()
    return Promise.resolve()
  } catch (error) {
    log.warn('A value was not published.', { error })
    const refused = Promise.reject(error)
    refused.catch(() => {})
    return refused
  }
}

/** Adds to each entry which attempt it is about. */
function logOf({ claim, definition, step }: ContextSource, log: Logger): Logger {
  const { runId, direction, attempt } = claim
  const fields = { runId, workflow: definition.name, step: step.name, direction, attempt }
  return {
    debug: (message, more) => log.debug(message, { ...fields, ...more }),
    info: (message, more) => log.info(message, { ...fields, ...more }),
    warn: (message, more) => log.warn(message, { ...fields, ...more }),
    error: (message, more) => log.error(message, { ...fields, ...more }),
  }
}
