import { type Claim, heartbeatKey, isHeartbeat, type NewValue, type Published } from '../../adapter/index.ts'
import type { Clock } from '../../clock.ts'
import type { StepDefinition } from '../../definition/step.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { checkArgument, type Kind, key, note, Refusal } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { counted, sentence } from '../../words.ts'
import { toJsonText } from '../base/payload.ts'

/** The limits of what steps tell. */
export interface ValueLimits {
  /** The most keys that a run may have. */
  readonly valuesMax: number
  /** The largest value, in bytes of JSON. */
  readonly valueMaxBytes: number
}

export interface TellingParts extends ValueLimits {
  readonly clock: Clock
  readonly log: Logger
  /** Its attempt settles in a transaction of its own. */
  readonly isTransactional?: boolean
  /** There is something to send. */
  readonly onTold: (telling: Telling) => void
}

/** A value that is not known to be stored. */
interface Told {
  readonly key: string | null
  readonly sequence: number
  /** When the handler gave it, by the engine's clock. */
  readonly givenAt: number
  readonly value: string
}

/** What one attempt tells: of each key only the latest value, so that however often a handler publishes, little waits to be sent. */
export class Telling {
  readonly attempt: {
    readonly claim: Claim
    readonly step: StepDefinition
    readonly definition: WorkflowDefinition
  }
  readonly #parts: TellingParts
  readonly #unsent = new Map<string | null, Told>()
  readonly #keys = new Set<string>()
  #sequence = 0
  #underWay = 0
  #state: 'open' | 'ended' | 'lost' = 'open'
  #failure: unknown

  constructor(attempt: Telling['attempt'], parts: TellingParts) {
    this.attempt = attempt
    this.#parts = parts
  }

  /** Why a value is not stored; undefined if every value is, or may still be. */
  get failure(): unknown {
    return this.#failure
  }

  /** Whether every value is stored, or can never be. */
  get isSent(): boolean {
    return this.#unsent.size === 0 && this.#underWay === 0
  }

  /** Throws `invalid_option`, `payload_unserialisable`, `payload_too_large`, `too_many_values`, `attempt_ended`. */
  publish(givenKey: string, value: unknown): void {
    const checked = checkArgument('publish()', 'the key', givenKey, PUBLISHED_KEY)
    const { valuesMax, valueMaxBytes } = this.#parts
    const text = toJsonText(value ?? null, valueMaxBytes, () => ({
      what: `${this.#named(checked)},`,
      limit: 'valueMaxBytes',
      log: this.#parts.log,
      subject: `Value "${checked}"`,
      ...this.#where,
    }))
    this.#assertOpen('publish()')
    if (!this.#keys.has(checked) && this.#keys.size >= valuesMax) throw this.#tooMany(checked)
    this.#keys.add(checked)
    this.#tell(checked, text!)
  }

  /** Throws `invalid_option`, `attempt_ended`. */
  progress(done: number, total?: number, said?: string): void {
    const told = {
      done: checkArgument('progress()', 'done', done, AMOUNT),
      total: total === undefined ? undefined : checkArgument('progress()', 'the total', total, AMOUNT),
      note: said === undefined ? undefined : checkArgument('progress()', 'the note', said, note(NOTE_MAX)),
    }
    this.#assertOpen('progress()')
    this.#tell(null, JSON.stringify(told))
  }

  /**
   * Keeps details for the next attempt. Throws `payload_unserialisable`, `payload_too_large`, `attempt_ended`. A transaction that is rolled back would
   * take them with it, so an attempt in one keeps none.
   */
  heartbeat(details: unknown): void {
    this.#assertOpen('heartbeat()')
    if (details === undefined || this.#parts.isTransactional) return
    const what = 'Details of a heartbeat'
    const limit = 'valueMaxBytes'
    const text = toJsonText(details, this.#parts.valueMaxBytes, () => ({
      what,
      limit,
      log: this.#parts.log,
      ...this.#where,
    }))
    this.#tell(heartbeatKey(this.attempt.claim), text!)
  }

  /** Takes no further values: the handler has ended. `isOver`: no attempt follows that could read its heartbeats. */
  end(isOver: boolean): void {
    if (this.#state === 'open') this.#state = 'ended'
    if (isOver) this.#unsent.delete(heartbeatKey(this.attempt.claim))
  }

  /** What is to be sent now, at most `limit` values. Give each answer to {@link answered}, or call {@link unanswered}. */
  take(limit: number): readonly NewValue[] {
    const { runId, step, fence } = this.attempt.claim
    const now = this.#parts.clock.now()
    const taken = [...this.#unsent.values()].slice(0, limit)
    for (const told of taken) this.#unsent.delete(told.key)
    this.#underWay += taken.length
    return taken.map(({ key, sequence, givenAt, value }) => {
      return { runId, step, fence, key, sequence, ageMs: Math.max(0, now - givenAt), value }
    })
  }

  answered(sent: NewValue, result: Published | undefined): void {
    this.#underWay -= 1
    if (result === 'busy') this.#putBack(sent)
    else if (result === 'lost') this.lose()
    else if (typeof result === 'object' && isHeartbeat(sent.key)) this.#warn(result.refused)
    else if (result === 'too_many') this.#failure ??= this.#tooMany(sent.key ?? '')
    else if (typeof result === 'object') this.#failure ??= this.#refused(sent, result.refused)
  }

  unanswered(sent: NewValue): void {
    this.#underWay -= 1
    this.#putBack(sent)
  }

  /** The store keeps refusing calls with this value. */
  gaveUp(sent: NewValue, error: unknown): void {
    this.#underWay -= 1
    if (isHeartbeat(sent.key)) this.#warn(error)
    else this.#failure ??= error
  }

  /** The attempt does not hold its step any more: nothing of it can be stored. */
  lose(): void {
    this.#state = 'lost'
    this.#unsent.clear()
  }

  /** What an attempt has achieved counts without its heartbeats: they only spare the next one some work. */
  #warn(error: unknown): void {
    this.#parts.log.warn('The details of a heartbeat cannot be stored.', { ...this.#where, error })
  }

  /** A newer value of its key may have come meanwhile. */
  #putBack({ key, sequence, ageMs, value }: NewValue): void {
    if (this.#state === 'lost' || this.#unsent.has(key)) return
    this.#unsent.set(key, { key, sequence, givenAt: this.#parts.clock.now() - ageMs, value })
  }

  #tell(key: string | null, value: string): void {
    this.#sequence += 1
    this.#unsent.set(key, { key, sequence: this.#sequence, givenAt: this.#parts.clock.now(), value })
    this.#parts.onTold(this)
  }

  #assertOpen(call: string): void {
    if (this.#state === 'open') return
    const { runId, step, attempt } = this.#where
    const why = this.#state === 'ended' ? 'has ended' : 'does not hold the step any more'
    throw new BelayError(
      'attempt_ended',
      `${call}: attempt ${attempt} of step "${step}" of run ${runId} ${why}, so nothing was stored. Call it before the handler returns, and stop working when the handler's signal fires.`,
      this.#where,
    )
  }

  #tooMany(refused: string): BelayError {
    return new BelayError(
      'too_many_values',
      `${this.#named(refused)} cannot be stored: a run may have ${counted(this.#parts.valuesMax, 'key')}. Reuse keys, publish one value that holds several, or raise \`valuesMax\` of createEngine().`,
      this.#where,
    )
  }

  #refused({ key }: NewValue, reason: string): BelayError {
    return new BelayError(
      'payload_unserialisable',
      `${this.#named(key)} cannot be stored: ${sentence(reason)} Publish plain data: objects, arrays, strings, numbers, booleans, null.`,
      this.#where,
    )
  }

  #named(key: string | null): string {
    const { runId, step } = this.#where
    return key === null
      ? `The progress of step "${step}" of run ${runId}`
      : `Value "${key}" that step "${step}" published in run ${runId}`
  }

  get #where() {
    const { claim, step } = this.attempt
    return { runId: claim.runId, step: step.name, attempt: claim.attempt }
  }
}

const NOTE_MAX = 500

const PUBLISHED_KEY: Kind<string> = {
  words: `${key.words}, and not beginning with the control character U+0001`,
  read: (given) =>
    typeof given === 'string' && isHeartbeat(given) ? new Refusal(shown(given)) : key.read(given),
}

const AMOUNT: Kind<number> = {
  words: 'a finite number of at least 0',
  read: (given) =>
    typeof given === 'number' && Number.isFinite(given) && given >= 0 ? given : new Refusal(shown(given)),
}

/** What an attempt tells. In a transaction nothing is sent: it is stored with the outcome. */
export function tellingOf(
  attempt: Telling['attempt'] & { readonly transaction: unknown },
  parts: TellingParts,
): Telling {
  return new Telling(
    attempt,
    attempt.transaction === null ? parts : { ...parts, isTransactional: true, onTold: () => {} },
  )
}
