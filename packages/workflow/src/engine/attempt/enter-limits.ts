import { skipText } from '../../adapter/branch.ts'
import type { LimitEntry } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { Handler, StepContext } from '../../definition/handler.ts'
import type { LimitPolicy } from '../../definition/limit.ts'
import { PermanentError } from '../../handler-errors.ts'
import { Refusal, readAs } from '../../options/index.ts'
import { isThenable, watchAnswer } from '../../thenable.ts'
import { LIMIT_KEY } from '../base/limit-key.ts'
import type { AttemptEnd } from '../decisions/decide.ts'

/** An attempt asks for its slots. */
export type EntersEnd = Extract<AttemptEnd, { type: 'enters' }>

/** How an attempt finds out what it must enter. */
export type EnterStep =
  | EntersEnd
  /** The limits have keys: `handler` must be called, and `judge` interprets what it returned. */
  | {
      readonly type: 'call'
      readonly asks: 'key'
      readonly handler: Handler
      readonly judge: (keys: unknown) => EntersEnd
    }

/** What the attempt of a step with limits does before its handler. */
export function enterStep(subject: Subject, limits: readonly LimitPolicy[]): EnterStep {
  if (limits.every(({ keyOf }) => keyOf === undefined))
    return entersWith(
      limits,
      limits.map(() => ''),
    )
  return {
    type: 'call',
    asks: 'key',
    handler: (context) => keysOf(limits, context),
    judge: (keys) =>
      entersWith(
        limits,
        (keys as readonly unknown[]).map((key, index) => checkedKey(subject, limits[index]!, key)),
      ),
  }
}

/** The attempt that enters. */
interface Subject {
  readonly claim: { readonly runId: string }
  readonly step: { readonly name: string }
}

function entersWith(limits: readonly LimitPolicy[], keys: readonly string[]): EntersEnd {
  return { type: 'enters', entries: limits.map((limit, index) => entryOf(limit, keys[index]!)) }
}

function entryOf({ name: limit, of, atLimit }: LimitPolicy, key: string): LimitEntry {
  // With 'cancel-older', older runs make room. With 'refuse', the run has had its slot since its start, unless it is retried or older code started it.
  if (atLimit !== 'skip') return { limit, key, of }
  const ifFull =
    of === 'step'
      ? skipText({ because: 'limit', limit, key })
      : JSON.stringify({ type: 'limit_reached', limit, key } satisfies RunCause)
  return { limit, key, of, ifFull }
}

/** The keys, or a promise of them if a function returned one. */
function keysOf(limits: readonly LimitPolicy[], context: StepContext): unknown {
  const keys: unknown[] = []
  try {
    for (const { keyOf, of } of limits) {
      const call = keyOf as ((context: unknown) => unknown) | null | undefined
      keys.push(call?.(of === 'run' ? ofRun(context) : ofStep(context)))
    }
  } catch (error) {
    for (const key of keys) watchAnswer(key)
    throw error
  }
  return keys.some(isThenable) ? Promise.all(keys) : keys
}

function ofRun({ runId, input }: StepContext): object {
  return { runId, input }
}

/** Nothing of the context that is for effects. */
function ofStep(context: StepContext): object {
  const { runId, step, input, deps } = context
  const { item, itemKey, index, round, last } = context as unknown as Readonly<Record<string, unknown>>
  if (itemKey !== undefined) return { runId, step, input, deps, item, itemKey, index }
  return round !== undefined && 'last' in context
    ? { runId, step, input, deps, round, last }
    : { runId, step, input, deps }
}

/** @throws PermanentError unless it is a text that a store can hold: a retry would not help. */
function checkedKey({ claim, step }: Subject, { name, keyOf }: LimitPolicy, key: unknown): string {
  if (keyOf === undefined) return ''
  const read = readAs(LIMIT_KEY, key)
  if (!Refusal.is(read)) return read
  throw new PermanentError(
    `What key of limit "${name}" returned for step "${step.name}" of run ${claim.runId} is ${read.got}, and must be ${LIMIT_KEY.words}.`,
  )
}
