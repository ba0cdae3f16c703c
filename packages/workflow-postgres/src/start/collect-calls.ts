import {
  BelayError,
  type CollectedRun,
  collectCalls as decide,
  type NewCall,
  refusedStart,
  StoreContendedError,
  shown,
} from '@belay/workflow/adapter'
import { codeOf, refusalOf } from '../base/errors.ts'
import { isLockTimeout, lockWait, sharedLockWait } from '../base/lock-wait.ts'
import type { Connection } from '../connection/connection.ts'
import type { Wakeup } from '../store/wakeup.ts'
import { knownCalls } from './find-calls.ts'
import { inOrder, lockKeys } from './lock-collections.ts'
import { lockedCollections } from './read-collections.ts'
import type { Beside } from './save-within.ts'
import { startRuns } from './start-runs.ts'
import { startErrorWithin } from './start-within.ts'
import { type GatheredKey, writeGathered } from './write-collections.ts'

interface KeyedCalls {
  readonly definitionId: number
  readonly key: string
  readonly calls: readonly NewCall[]
}

/**
 * Collects calls in one transaction of several statements: each must see what others committed before this one got the locks of its keys. Locks: the
 * keys in their order, the first steps of runs that collect, these runs.
 */
export function collectCalls(
  connection: Connection,
  calls: readonly NewCall[],
): Promise<readonly CollectedRun[]> {
  if (calls.length === 0) return Promise.resolve([])
  return connection.transaction((transaction) => collectIn(transaction, calls, sharedLockWait))
}

/** Collects calls in the caller's transaction; workers are told when it commits. */
export async function collectWithin(
  parts: { readonly transaction: Connection; readonly beside: Beside; readonly wakeup: Wakeup },
  calls: readonly NewCall[],
): Promise<readonly CollectedRun[]> {
  if (calls.length === 0) return []
  const { transaction, wakeup } = parts
  const collected = await collectIn(transaction, calls, lockWait(1)).catch(async (error: unknown) => {
    throw await startErrorWithin(parts, calls, error)
  })
  if (collected.some(({ created, due }) => created || due)) {
    await wakeup.wakeAfter?.(transaction, [...new Set(calls.map(({ definitionId }) => definitionId))])
  }
  return collected
}

async function collectIn(
  connection: Connection,
  calls: readonly NewCall[],
  waits: string,
): Promise<readonly CollectedRun[]> {
  const keys = inOrder(keysOf(calls))
  const answers = new Map<string, CollectedRun>()
  try {
    await lockKeys(connection, keys, waits)
    const { now, collections } = await lockedCollections(connection, keys, waits)
    const known = await knownCalls(connection, calls)
    const gathered: GatheredKey[] = []
    const seen = new Set<string>()
    keys.forEach((keyed, index) => {
      const fresh = withoutRepeated(keyed.calls, known, seen)
      if (fresh.length === 0) return
      const decided = decide(collections[index]!, fresh, now)
      gathered.push({ ...keyed, gathered: decided })
      decided.answers.forEach((answer, at) => {
        const { callId, definitionId, input } = fresh[at]!
        answers.set(callId, { ...answer, definitionId, input })
      })
    })
    const opened = gathered.flatMap(({ gathered: { opened: runs } }) => runs)
    await startRuns(connection, opened, { waits })
    if (gathered.length > 0) await writeGathered(connection, gathered, waits)
    return answersOf(calls, answers, known)
  } catch (error) {
    throw collectError(error, calls)
  }
}

function keysOf(calls: readonly NewCall[]): readonly KeyedCalls[] {
  const byName = new Map<string, KeyedCalls & { readonly calls: NewCall[] }>()
  for (const call of calls) {
    const { definitionId, collectKey: key } = call
    const name = `${definitionId} ${key}`
    const keyed = byName.get(name)
    if (keyed === undefined) byName.set(name, { definitionId, key, calls: [call] })
    else keyed.calls.push(call)
  }
  return [...byName.values()]
}

/** The calls that the store does not know, each once. `seen`: the ids of earlier calls of the batch. */
function withoutRepeated(
  calls: readonly NewCall[],
  known: ReadonlyMap<string, unknown>,
  seen: Set<string>,
): readonly NewCall[] {
  return calls.filter(({ callId }) => {
    const isNew = !known.has(callId) && !seen.has(callId)
    seen.add(callId)
    return isNew
  })
}

function answersOf(
  calls: readonly NewCall[],
  fresh: ReadonlyMap<string, CollectedRun>,
  known: ReadonlyMap<string, Omit<CollectedRun, 'input'>>,
): readonly CollectedRun[] {
  const seen = new Set<string>()
  return calls.map((call) => {
    const { callId, input } = call
    const found = known.get(callId)
    if (found !== undefined) return { ...found, input }
    const answer = fresh.get(callId)!
    if (!seen.has(callId)) {
      seen.add(callId)
      return answer
    }
    return { ...answer, created: false, repeated: true, input, inputHash: call.inputHash ?? null }
  })
}

function collectError(error: unknown, calls: readonly NewCall[]): unknown {
  const refusal = refusalOf(error)
  if (refusal !== null) return refusedStart(calls, refusal, error)
  if (!isLockTimeout(error) && !isTaken(error)) return error
  const [call] = calls
  const what =
    calls.length === 1
      ? `A call of workflow "${call!.workflow}" with the start key ${shown(call!.collectKey)} was not collected: another transaction has called with this key, or holds its run, and has not ended within some seconds.`
      : `None of ${calls.length} calls was collected: another transaction holds the start key of one of them, or its run, and has not ended.`
  const remedy = 'Call again once that transaction has ended; keep transactions that start runs short.'
  return new StoreContendedError(what, { remedy, cause: error })
}

/** Another transaction has stored the same call under another key, after this one looked for it: the next look finds it. */
function isTaken(error: unknown): boolean {
  return codeOf(BelayError.is(error) ? error.cause : error) === '23505'
}
