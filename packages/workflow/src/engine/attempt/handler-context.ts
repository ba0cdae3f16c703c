import {
  type Claim,
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
import { fromJsonText } from '../base/payload.ts'
import type { ForwardPayloads } from '../base/payload-cache.ts'
import type { AttemptPayloads } from './attempt-payloads.ts'
import type { Telling } from './telling.ts'

export interface ContextParts {
  readonly claim: Claim
  readonly definition: WorkflowDefinition
  readonly step: StepDefinition
  /** Only of an item of a map, or of a round. */
  readonly item: NewItem | undefined
  readonly payloads: ForwardPayloads
  readonly controller: AbortController
  readonly log: Logger
  /** What the attempt tells. Made on first use: most attempts tell nothing. */
  readonly telling: () => Telling
}

/** Makes the context of a handler, for either direction. */
export function handlerContext(parts: ContextParts): StepContext {
  const { claim, definition, payloads, item } = parts
  const { runId, attempt } = claim
  const { name: step, number } = parts.step
  // What all items of a map get is parsed only if an item reads it: thousands of items may share a large input.
  const isLazy = item !== undefined && sizeOf(payloads) > LAZY_FROM_CHARS
  const parsedInput = () => fromJsonText(payloads.input)
  const parsedDeps = () => dependencyOutputs(definition, number, payloads.outputs)
  const context = new HandlerContext(parts, {
    runId,
    step,
    input: isLazy ? undefined : parsedInput(),
    deps: isLazy ? NOT_YET : parsedDeps(),
    attempt,
    idempotencyKey: idempotencyKey(claim, step),
    log: withFields(parts.log, () => ({
      runId,
      workflow: definition.name,
      step,
      direction: claim.direction,
      attempt,
    })),
  })
  if (item === undefined) return context
  if (isLazy) {
    defineLazily(context, 'input', parsedInput)
    defineLazily(context, 'deps', parsedDeps)
  }
  const [value, index] = [fromJsonText(item.value), itemIndex(claim.step)]
  if (parts.step.map?.part === 'round') return Object.assign(context, { round: index + 1, last: value })
  return Object.assign(context, { item: value, itemKey: item.key, index })
}

/** Payloads that are longer together, in characters of JSON text, are parsed when they are first read. */
const LAZY_FROM_CHARS = 1_000
const NOT_YET: Readonly<Record<string, unknown>> = Object.freeze({})

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
export function undoFieldsOf(
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

/** The same for all attempts of one round. It changes after the effect was undone and the step runs again. */
function idempotencyKey({ runId, round, direction }: Claim, step: string): string {
  const effect = round === 1 ? `${runId}:${step}` : `${runId}:${step}:${round}`
  return direction === 'undo' ? `${effect}:undo` : effect
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
 * Creates the signal on first use: most handlers never use it, and it costs more than the rest of the context. It is an own property like the
 * others, so that handlers can destructure or spread the context.
 */
class HandlerContext implements StepContext {
  static readonly #signal: PropertyDescriptor & ThisType<HandlerContext> = {
    enumerable: true,
    configurable: true,
    get() {
      return this.#controller.signal
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
  readonly #controller: AbortController

  constructor(parts: ContextParts, fields: Omit<StepContext, 'signal' | 'publish' | 'progress'>) {
    this.runId = fields.runId
    this.step = fields.step
    this.input = fields.input
    this.deps = fields.deps
    this.attempt = fields.attempt
    this.idempotencyKey = fields.idempotencyKey
    this.log = fields.log
    this.publish = (key, value) => told(fields.log, () => parts.telling().publish(key, value))
    this.progress = (done, total, note) => told(fields.log, () => parts.telling().progress(done, total, note))
    this.#controller = parts.controller
    Object.defineProperty(this, 'signal', HandlerContext.#signal)
  }
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

function withFields(log: Logger, fields: () => Readonly<Record<string, unknown>>): Logger {
  if (log === silentLogger) return log
  return {
    debug: (message, more) => log.debug(message, { ...fields(), ...more }),
    info: (message, more) => log.info(message, { ...fields(), ...more }),
    warn: (message, more) => log.warn(message, { ...fields(), ...more }),
    error: (message, more) => log.error(message, { ...fields(), ...more }),
  }
}
