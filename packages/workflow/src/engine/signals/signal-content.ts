import { dequal } from 'dequal'
import type { Delivery, FoundRun, JsonText, NewSignal } from '../../adapter/index.ts'
import { validatePayload } from '../../definition/input-schema.ts'
import type { SignalWait } from '../../definition/wait.ts'
import { BelayError } from '../../errors.ts'
import { shown } from '../../shown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { fromJsonText } from '../base/payload.ts'
import { answerOf } from '../base/user-code.ts'
import type { Decision } from '../decisions/decide-wait.ts'

/** A signal for a step of a run. */
interface Sent {
  readonly run: FoundRun
  readonly step: { readonly name: string }
  readonly signal: NewSignal
}

/** Throws `key_conflict` if the step has received this key with another payload. */
export function assertSamePayload({ run, step, signal }: Sent, delivery: Delivery): void {
  if (delivery.result !== 'duplicate' || isSame(signal, delivery, delivery.recorded)) return
  throw new BelayError(
    'key_conflict',
    `Step "${step.name}" of run ${run.runId} has a signal with key ${shown(signal.key)} and another payload. Nothing was recorded.`,
    { remedy: 'Give each event a key of its own.', runId: run.runId, step: step.name },
  )
}

/** Tells whether the step already has the same decision. Throws `decision_conflict` if it has another one. */
export function isSameDecision({ run, step, signal }: Sent, delivery: Delivery): boolean {
  if (!('recorded' in delivery) || delivery.recorded === null) return false
  const made = fromJsonText(delivery.recorded) as Decision
  const sent = fromJsonText(signal.payload) as Decision
  if (made.approved === sent.approved) {
    const text = made.payload === undefined ? null : JSON.stringify(made.payload)
    const payload = sent.payload === undefined ? null : JSON.stringify(sent.payload)
    if (isSame({ ...signal, payload }, delivery, text)) return true
  }
  const before = made.approved === sent.approved ? ' with another payload' : ''
  throw new BelayError(
    'decision_conflict',
    `Step "${step.name}" of run ${run.runId} was ${wordFor(made)} by ${made.by} at ${made.at}${before}, and can no longer be ${wordFor(sent)}. Nothing was recorded.`,
    { runId: run.runId, step: step.name },
  )
}

function wordFor({ approved }: Decision): string {
  return approved ? 'approved' : 'rejected'
}

/**
 * Tells whether two payloads are the same, either as their senders gave them or after the schema. A schema may add a new value each time, like the
 * time, or drop a value that the sender changes with each try.
 */
function isSame(
  { payload, payloadHash }: Pick<NewSignal, 'payload' | 'payloadHash'>,
  recorded: { readonly payloadHash?: string | undefined },
  recordedPayload: JsonText,
): boolean {
  if (recorded.payloadHash === undefined) {
    // The recorded signal has no hash (an older version wrote it), or its payload is gone and cannot be compared.
    return recordedPayload === null || isEqual(recordedPayload, payload)
  }
  return recorded.payloadHash === payloadHash || isEqual(recordedPayload, payload)
}

function isEqual(one: JsonText, other: JsonText): boolean {
  return one === other || dequal(fromJsonText(one), fromJsonText(other))
}

/** A hash of a payload as its sender gave it, independent of the order of keys. Undefined if it has no JSON form. */
export function payloadHash(given: unknown): string | undefined {
  try {
    return hash(JSON.stringify(given, withSortedKeys) ?? '')
  } catch {
    return undefined
  }
}

function withSortedKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
}

/** Two runs of cyrb53, 106 bits: enough to compare payloads, with no need to resist attacks. Synchronous, also in browsers. */
function hash(text: string): string {
  return cyrb53(text, 0) + cyrb53(text, 1)
}

function cyrb53(text: string, seed: number): string {
  let [high, low] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed]
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    high = Math.imul(high ^ unit, 2654435761)
    low = Math.imul(low ^ unit, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(16).padStart(14, '0')
}

/** The payload as the step's schema gives it. In an object, because a promise would call a `then()` of the payload. Throws `invalid_input`, `function_timeout`. */
export async function checkedPayload(
  { runtime }: Pick<CallSettings, 'runtime'>,
  place: Parameters<typeof validatePayload>[0],
  schema: SignalWait['schema'],
  payload: unknown,
): Promise<{ readonly payload: unknown }> {
  const what = `The schema of step "${place.step}" of workflow "${place.workflow}"`
  return answerOf(runtime.clock, what, () => validatePayload(place, schema, payload))
}
