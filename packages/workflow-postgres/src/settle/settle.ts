import type { FreesSlots, KeepsAttempts, LimitEntry, Outcome, Settlement } from '@belay/workflow/adapter'
import { batchesBySize } from '../base/batches.ts'
import { refusalOf } from '../base/errors.ts'
import { contended, SHARED_LOCK_WAIT_MS } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import { type ContinuedOutcome, continueFailed } from './continue-attempts.ts'
import { type DecidedOutcome, decide } from './decide-attempts.ts'
import { type Entered, type EnteringOutcome, enter } from './enter-limits.ts'
import { enterOrLeave, mayLeave } from './enter-or-leave.ts'
import { type ExpandedOutcome, expand } from './expand-maps.ts'
import { type FailedOutcome, fail } from './fail-attempts.ts'
import { type FinishedOutcome, finish, isOfMap } from './finish-attempts.ts'
import { free } from './free-limits.ts'
import { type ParkedOutcome, park } from './park-undos.ts'
import { settledBefore } from './read-attempts.ts'
import { type RepeatedOutcome, repeat } from './repeat-rounds.ts'
import { type RequeuedOutcome, requeue } from './requeue-attempts.ts'
import { type WaitingOutcome, wait } from './wait-attempts.ts'

export interface SettleRequest extends KeepsAttempts, FreesSlots {
  readonly workerId: string
  readonly outcomes: readonly Outcome[]
  readonly handBackMax: number
}

interface Recorded {
  readonly outcome: readonly Outcome[]
  /** Those whose steps wait for a slot. */
  readonly parked?: readonly Outcome[]
  /** Those that ask again after so many milliseconds. */
  readonly waiting?: ReadonlyMap<Outcome, number>
  /** Those whose attempts are over because an entry has no slot, with it. */
  readonly full?: ReadonlyMap<Outcome, LimitEntry>
  /** Why the database can never accept the one outcome of this call. */
  readonly refused?: { readonly outcome: Outcome; readonly reason: string }
  readonly claims?: Settlement['claims']
  readonly runs?: Settlement['runs']
  readonly queued?: boolean
}

/**
 * Records outcomes, one statement for each kind. Failures come first, so that successes in the same batch do not hand out steps which the failures
 * cancel.
 */
export async function settle(connection: Connection, request: SettleRequest): Promise<Settlement> {
  const recorded: Recorded[] = []
  let handBackMax = request.handBackMax
  for (const { kind, outcomes } of batchesByKind(request.outcomes)) {
    const batch = { ...request, outcomes, handBackMax }
    for (const part of await recordEach(connection, kind, batch)) {
      recorded.push(part)
      handBackMax -= part.claims?.length ?? 0
    }
  }
  const settlement = await answer(connection, request, recorded)
  // Apart from what ended the attempts: a slot must not be free before that is committed, and nobody waits for a key with steps locked.
  const given = await free(connection, [...(request.frees ?? []), ...fullOf(recorded).keys()])
  return given ? { ...settlement, queued: true } : settlement
}

async function answer(
  connection: Connection,
  { workerId, outcomes }: SettleRequest,
  recorded: readonly Recorded[],
): Promise<Settlement> {
  const settled = new Set(recorded.flatMap((part) => part.outcome))
  const parked = new Set(recorded.flatMap((part) => part.parked ?? []))
  const full = fullOf(recorded)
  const waiting = new Map(recorded.flatMap((part) => [...(part.waiting ?? [])]))
  const refused = new Map(
    recorded.flatMap((part) => (part.refused === undefined ? [] : [entryOf(part.refused)])),
  )
  const answered = [settled, refused, parked, full, waiting]
  const open = outcomes.filter((outcome) => !answered.some((known) => known.has(outcome)))
  for (const index of await settledBefore(connection, { workerId, outcomes: open })) settled.add(open[index]!)
  return {
    results: outcomes.map((outcome) => {
      const reason = refused.get(outcome)
      if (reason !== undefined) return { refused: reason }
      if (parked.has(outcome)) return 'parked'
      const entry = full.get(outcome)
      if (entry !== undefined) return { full: entry }
      const inMs = waiting.get(outcome)
      if (inMs !== undefined) return { inMs }
      return settled.has(outcome) ? 'settled' : 'lost'
    }),
    claims: recorded.flatMap((part) => part.claims ?? []),
    runs: recorded.flatMap((part) => part.runs ?? []),
    queued: recorded.some((part) => part.queued === true),
  }
}

function fullOf(recorded: readonly Recorded[]): ReadonlyMap<Outcome, LimitEntry> {
  return new Map(recorded.flatMap(({ full }) => [...(full ?? [])]))
}

function entryOf({ outcome, reason }: NonNullable<Recorded['refused']>): readonly [Outcome, string] {
  return [outcome, reason]
}

type Kind =
  | 'fail'
  | 'park'
  | 'requeue'
  | 'wait'
  | 'expand'
  | 'repeat'
  | 'decide'
  | 'enter'
  | 'finish'
  | 'finish of maps'
  | 'continue'

const KIND_OF: Readonly<Record<Outcome['type'], Kind>> = {
  failed: 'fail',
  compensation_failed: 'park',
  retry: 'requeue',
  released: 'requeue',
  waiting: 'wait',
  expanded: 'expand',
  repeated: 'repeat',
  completed: 'finish',
  received: 'finish',
  skipped: 'finish',
  decided: 'decide',
  enters: 'enter',
  compensated: 'finish',
  relayed: 'finish',
}

function batchesByKind(outcomes: readonly Outcome[]) {
  return KINDS.flatMap((kind) => {
    const ofKind = outcomes.filter((outcome) => kindOf(outcome) === kind)
    return batchesBySize(ofKind, payloadOf).map((batch) => ({ kind, outcomes: batch }))
  })
}

const KINDS = [
  'fail',
  'park',
  'requeue',
  'wait',
  'expand',
  'repeat',
  'decide',
  'enter',
  'finish',
  'finish of maps',
  'continue',
] as const

function kindOf(outcome: Outcome): Kind {
  if (outcome.type === 'failed' && outcome.continues) return 'continue'
  const kind = KIND_OF[outcome.type]
  return kind === 'finish' && isOfMap(outcome as FinishedOutcome) ? 'finish of maps' : kind
}

function payloadOf(outcome: Outcome): number {
  switch (outcome.type) {
    case 'completed':
    case 'repeated':
      return outcome.output?.length ?? 0
    case 'expanded':
      return outcome.items.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
    case 'failed':
      return outcome.error.length + (outcome.continues ? 0 : outcome.cause.length)
    case 'retry':
    case 'compensation_failed':
      return outcome.error.length
    default:
      return 0
  }
}

/**
 * Records a batch. If the database refuses a value in it, records it in halves until the bad outcome is alone. The engine splits the batches that
 * a call refuses as a whole (`sendApart`). Here the call goes on: a refusal is part of its answer, every other error ends it, and the claims of one
 * half leave less room for those of the next.
 */
async function recordEach(
  connection: Connection,
  kind: Kind,
  batch: SettleRequest,
): Promise<readonly Recorded[]> {
  try {
    return [await record(connection, kind, batch)]
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === null)
      throw contended(
        error,
        batch.outcomes.map(({ runId }) => runId),
        SHARED_LOCK_WAIT_MS,
      )
    const [only] = batch.outcomes
    if (batch.outcomes.length === 1 && only !== undefined) {
      return [{ outcome: [], refused: { outcome: only, reason: refusal } }]
    }
    const middle = Math.ceil(batch.outcomes.length / 2)
    const first = await recordEach(connection, kind, { ...batch, outcomes: batch.outcomes.slice(0, middle) })
    const leased = first.reduce((sum, part) => sum + (part.claims?.length ?? 0), 0)
    const rest = { ...batch, outcomes: batch.outcomes.slice(middle), handBackMax: batch.handBackMax - leased }
    return [...first, ...(await recordEach(connection, kind, rest))]
  }
}

async function record(connection: Connection, kind: Kind, batch: SettleRequest): Promise<Recorded> {
  const { workerId, handBackMax, keepAttempts } = batch
  const pick = (indexes: readonly number[]) => indexes.map((index) => batch.outcomes[index]!)
  switch (kind) {
    case 'fail': {
      const outcomes = batch.outcomes as readonly FailedOutcome[]
      const { settled, runs } = await fail(connection, { workerId, outcomes, keepAttempts })
      return { outcome: pick(settled), runs }
    }
    case 'park': {
      const outcomes = batch.outcomes as readonly ParkedOutcome[]
      const { settled, runs } = await park(connection, { workerId, outcomes, keepAttempts })
      return { outcome: pick(settled), runs }
    }
    case 'requeue': {
      const outcomes = batch.outcomes as readonly RequeuedOutcome[]
      const settled = pick(await requeue(connection, { workerId, outcomes, keepAttempts }))
      return { outcome: settled, queued: settled.some(isDueNow) }
    }
    case 'wait': {
      const outcomes = batch.outcomes as readonly WaitingOutcome[]
      const { settled, queued } = await wait(connection, { workerId, outcomes, keepAttempts })
      return { outcome: pick(settled), queued }
    }
    case 'expand': {
      const outcomes = batch.outcomes as readonly ExpandedOutcome[]
      const { settled, ...rest } = await expand(connection, { workerId, outcomes, handBackMax, keepAttempts })
      return { outcome: pick(settled), ...rest }
    }
    case 'repeat': {
      const outcomes = batch.outcomes as readonly RepeatedOutcome[]
      const { settled, ...rest } = await repeat(connection, { workerId, outcomes, handBackMax, keepAttempts })
      return { outcome: pick(settled), ...rest }
    }
    case 'decide':
    case 'enter':
      return recordGoingOn(connection, kind, batch)
    case 'finish':
    case 'finish of maps': {
      const outcomes = batch.outcomes as readonly FinishedOutcome[]
      const { settled, ...rest } = await finish(connection, { workerId, outcomes, handBackMax, keepAttempts })
      return { outcome: pick(settled), ...rest }
    }
    case 'continue': {
      const outcomes = batch.outcomes as readonly ContinuedOutcome[]
      const { settled, ...rest } = await continueFailed(connection, {
        ...{ workerId, outcomes, handBackMax, keepAttempts },
      })
      return { outcome: pick(settled), ...rest }
    }
  }
}

/** Records outcomes that do not end their attempts, or not if there are slots. */
async function recordGoingOn(
  connection: Connection,
  kind: 'decide' | 'enter',
  request: SettleRequest,
): Promise<Recorded> {
  const { workerId, outcomes } = request
  const pick = (indexes: readonly number[]) => indexes.map((index) => outcomes[index]!)
  if (kind === 'decide') {
    const decided = outcomes as readonly DecidedOutcome[]
    return { outcome: pick(await decide(connection, { workerId, outcomes: decided })) }
  }
  const waits = (waiting: Entered['waiting']) =>
    new Map(waiting.map(({ index, inMs }) => [outcomes[index]!, inMs]))
  const entering = outcomes as readonly EnteringOutcome[]
  if (!entering.some(mayLeave)) {
    const { settled, parked, waiting, queued } = await enter(connection, { workerId, outcomes: entering })
    return { outcome: pick(settled), parked: pick(parked), waiting: waits(waiting), queued }
  }
  const { settled, parked, waiting, full, queued, ...rest } = await enterOrLeave(connection, {
    ...request,
    outcomes: entering,
  })
  const left = new Map(full.map(({ index, entry }) => [outcomes[index]!, entry]))
  return {
    outcome: pick(settled),
    parked: pick(parked),
    waiting: waits(waiting),
    full: left,
    queued,
    ...rest,
  }
}

function isDueNow(outcome: Outcome): boolean {
  return (outcome.type === 'released' || outcome.type === 'retry') && (outcome.delayMs ?? 0) === 0
}
