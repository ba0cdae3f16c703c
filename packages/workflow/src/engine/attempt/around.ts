import type { Direction } from '../../adapter/index.ts'
import type { StepContext } from '../../definition/handler.ts'
import { type Kind, Refusal } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { RunTraceparents } from '../base/run-traceparents.ts'

/** The attempt whose handler or compensation an {@link Around} hook surrounds. It has no payloads. */
export interface HandledAttempt {
  readonly workflow: string
  readonly version: number
  readonly runId: string
  /** The step's name, as in the handler's context, the log and the events; of an item or a round `resize[key]`. */
  readonly step: string
  /** What the handler does. The checks of a poll count their attempts from 1 each. */
  readonly kind: 'work' | 'choose' | 'poll'
  /** Only of an item or a round: the name of its map or loop, under which all of them can be grouped. */
  readonly partOf: string | undefined
  /** Only of an item of a map: its key, and its place in the list, from 0. */
  readonly itemKey: string | undefined
  readonly index: number | undefined
  /** Only of a round of a loop: its number, from 1. */
  readonly round: number | undefined
  readonly direction: Direction
  /** From 1; an undo counts its own. A transaction that is repeated after a conflict is the same attempt again. */
  readonly attempt: number
  /** The handler's: the same for every attempt of this step in this run. */
  readonly idempotencyKey: string
  /**
   * The W3C trace context of whoever started the run; undefined if it has none. A promise, because a claim does not bring the run's tags: of a run that was
   * started elsewhere they are read when the first hook asks, so that hooks which do not ask pay nothing. Rejects with the store's errors.
   */
  traceparent(): Promise<string | undefined>
}

/**
 * Surrounds the handler or the compensation of each attempt: of steps, transactional steps, items and rounds, the `on` of choices, and each `until` of
 * polls. Other functions, such as `when`, `over` or `key`, are not surrounded, nor is the look at a child.
 *
 * `next()` calls the next hook, or the handler, in the async context of its call: what `AsyncLocalStorage.run()` sets around it, the handler sees. The
 * handler runs once: every `next()` of the attempt gets the same promise. It resolves when the handler has succeeded, without its output, and rejects with
 * the very error that the handler threw; if an attempt that has timed out is not waited for any longer, with the error of the timeout.
 *
 * A hook observes, and changes nothing: the outcome of the attempt is that of the handler.
 * - An error of a hook's own goes to the engine's log (level error). An error of the handler that a hook swallows still fails the attempt.
 * - If a hook ends without having called `next()`, or has not called it after 1 s, the log says so, and the handler runs nevertheless. That second counts
 *   towards `timeout`. If the attempt was interrupted meanwhile, by its timeout, a stop or a lost lease, the handler is not called, and `next()` rejects
 *   with the reason.
 * - The outcome is taken as soon as the handler ends. Nobody waits for what a hook does afterwards, so it can run while the outcome is recorded, or after the
 *   engine was closed. Nor does `next()` say that the outcome is recorded: a transaction may still be rolled back, or the lease be lost.
 */
export type Around = (attempt: HandledAttempt, next: () => Promise<void>) => unknown

/** The hooks of an engine. */
export const AROUND: Kind<readonly Around[]> = {
  words: 'an array of functions of (attempt, next)',
  read(given) {
    if (!Array.isArray(given)) return new Refusal(shown(given))
    const hooks = Array.from(given)
    const other = hooks.findIndex((hook) => typeof hook !== 'function')
    return other === -1 ? hooks : new Refusal(`${shown(hooks[other])} at index ${other}`)
  },
}

/** Made for every attempt that has hooks: a class, whose objects cost little. */
export class AttemptOfHandler implements HandledAttempt {
  readonly workflow: string
  readonly version: number
  readonly runId: string
  readonly step: string
  readonly kind: HandledAttempt['kind']
  readonly partOf: string | undefined
  readonly itemKey: string | undefined
  readonly index: number | undefined
  readonly round: number | undefined
  readonly direction: Direction
  readonly attempt: number
  readonly idempotencyKey: string

  readonly #traceparents: RunTraceparents
  readonly #tx: unknown

  constructor(
    of: Pick<HandledAttempt, 'workflow' | 'version' | 'kind' | 'partOf' | 'direction'>,
    context: StepContext,
    traceparents: RunTraceparents,
  ) {
    const part = context as Partial<Pick<HandledAttempt, 'itemKey' | 'index' | 'round'>>
    this.workflow = of.workflow
    this.version = of.version
    this.runId = context.runId
    this.step = context.step
    this.kind = of.kind
    this.partOf = of.partOf
    this.itemKey = part.itemKey
    this.index = part.index
    this.round = part.round
    this.direction = of.direction
    this.attempt = context.attempt
    this.idempotencyKey = context.idempotencyKey
    this.#traceparents = traceparents
    this.#tx = (context as { readonly tx?: unknown }).tx
  }

  traceparent(): Promise<string | undefined> {
    return this.#traceparents.of(this.runId, this.#tx)
  }
}
