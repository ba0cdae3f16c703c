import type { CollectMode } from './collect-mode.ts'
import type { JsonText } from './new-item.ts'
import type { NewRun, StartedRun } from './starts.ts'

/** How long and how many calls are collected. Milliseconds, store clock. */
export interface CollectPolicy {
  readonly mode: CollectMode
  /** Of `debounce` the wait after the last call, of `throttle` the period, of `batch` the longest wait after the first call. */
  readonly windowMs: number
  /** Of `debounce`: the longest wait after the first call. Null for no limit. */
  readonly limitMs: number | null
  /** Of `batch`: the most calls of one run. Null otherwise. */
  readonly callsMax: number | null
}

/**
 * A call to be collected. As a {@link NewRun}, it is the run that is started if the call opens one; the input is that of this call alone. Its `key` is
 * null, and it has no start time.
 */
export interface NewCall extends NewRun {
  /** A UUID: a call that the store knows already is not counted again. */
  readonly callId: string
  /** Calls of one definition with the same key are collected together. */
  readonly collectKey: string
  readonly policy: CollectPolicy
  /** The UTF-8 size of the input's JSON text. */
  readonly inputBytes: number
  /** Of `batch`: the most bytes of the run's input. A call that would exceed them opens another run. */
  readonly inputMaxBytes: number
}

/** The answer to a {@link NewCall}: the run that carries it. `created`: this call opened the run. */
export interface CollectedRun extends StartedRun {
  /** The number of the call within its run, from 1. */
  readonly position: number
  /** When the run may begin, as far as calls until now have decided it. Epoch milliseconds, store clock. */
  readonly beginsAt: number
  /** The run may begin now. */
  readonly due: boolean
  /** The store knew the call already, by its id. */
  readonly repeated: boolean
}

/** What is known of the calls that a run carries. */
export interface CollectedCalls {
  /** The key under which they were collected. */
  readonly key: string
  readonly calls: number
  /** Further calls with this key would join the run, as far as its own rows do not forbid that. */
  readonly collecting: boolean
}

/** The most calls of a debounced or throttled run whose ids are kept. A batch has at most {@link BATCH_CALLS_MAX}. */
export const CALL_IDS_MAX = 10_000
/** The most calls of one batch. */
export const BATCH_CALLS_MAX = 1_000
/** The most tags of a run. */
export const RUN_TAGS_MAX = 20

/** What a store keeps for each definition and key: the newest run that collects. */
export interface Collection {
  readonly runId: string
  readonly mode: CollectMode
  /** When its first call came; of a throttled run that waits for its period, when the previous one began. */
  readonly openedAt: number
  /** The run takes calls before this instant, at which it may begin. */
  readonly dueAt: number
  /** From then on the next call finds nothing of this collection. Later than `dueAt` only for `throttle`. */
  readonly closesAt: number
  readonly calls: number
  /** The UTF-8 size of a batch's input. */
  readonly inputBytes: number
}

/** A stored collection under its lock, with what matters of its run. */
export interface LockedCollection extends Collection {
  /** Whether its run may take calls: it has that definition, is running, and none of its steps has ever begun. */
  readonly takesCalls: boolean
  readonly tags: readonly string[]
}

/** A change of a run that has not begun. */
export interface ChangedCollection {
  readonly runId: string
  readonly dueAt: number
  /** The new input; absent if it stays, or for a batch. */
  readonly input?: { readonly text: JsonText } | undefined
  /** Of a batch: JSON texts to append. */
  readonly items?: readonly string[] | undefined
  readonly tags: readonly string[]
}

/** What a store must write after {@link collectCalls}. */
export interface Gathered {
  /** In the order of the calls. */
  readonly answers: readonly Omit<CollectedRun, 'definitionId' | 'input'>[]
  readonly opened: readonly NewRun[]
  readonly changed: readonly ChangedCollection[]
  /** Where each call is. */
  readonly places: readonly { readonly call: NewCall; readonly runId: string; readonly position: number }[]
  readonly collection: Collection
}

/** A run that calls are collected in, as it changes. */
interface Draft {
  readonly runId: string
  /** The call that opened it; undefined for a stored run. */
  readonly opener: NewCall | undefined
  readonly mode: CollectMode
  readonly openedAt: number
  readonly closesAt: number
  takesCalls: boolean
  dueAt: number
  calls: number
  inputBytes: number
  tags: readonly string[]
  input: { readonly text: JsonText } | undefined
  readonly items: string[]
  isChanged: boolean
}

/**
 * Decides where calls go: a pure function of the locked collection, of at least one call with its definition and key, in order, and of the store's
 * time. Calls that the store knows already are left out before.
 */
export function collectCalls(
  stored: LockedCollection | null,
  calls: readonly NewCall[],
  now: number,
): Gathered {
  const drafts: Draft[] = stored === null ? [] : [draftOf(stored)]
  const places = calls.map((call) => {
    let draft = drafts.at(-1)
    if (draft === undefined || !isOpen(draft, call, now)) {
      draft = opened(draft, call, now)
      drafts.push(draft)
    } else if (isFull(draft, call)) {
      // What is full begins at once.
      draft.dueAt = now
      draft.isChanged = true
      draft = opened(draft, call, now)
      drafts.push(draft)
    } else join(draft, call, now)
    return { call, draft, position: draft.calls }
  })
  const { runId, mode, openedAt, dueAt, closesAt, calls: count, inputBytes } = drafts.at(-1)!
  return {
    answers: places.map(({ call, draft, position }) => ({
      ...{ runId: draft.runId, created: draft.opener === call, position, repeated: false },
      ...{ beginsAt: draft.dueAt, due: draft.dueAt <= now },
    })),
    opened: drafts.flatMap((draft) => (draft.opener === undefined ? [] : [newRun(draft, draft.opener)])),
    changed: drafts.flatMap((draft) =>
      draft.opener === undefined && draft.isChanged ? [changeOf(draft)] : [],
    ),
    places: places.map(({ call, draft, position }) => ({ call, runId: draft.runId, position })),
    collection: {
      ...{ runId, mode, openedAt, dueAt, closesAt: Math.max(closesAt, dueAt) },
      ...{ calls: count, inputBytes },
    },
  }
}

function draftOf(stored: LockedCollection): Draft {
  return { ...stored, opener: undefined, input: undefined, items: [], isChanged: false }
}

/** Whether the run still takes calls of this kind. */
function isOpen(draft: Draft, { policy }: NewCall, now: number): boolean {
  return draft.takesCalls && draft.mode === policy.mode && draft.dueAt > now
}

/** A call of a batch that does not fit opens the next one. */
function isFull(draft: Draft, { policy, inputBytes, inputMaxBytes, tags = [] }: NewCall): boolean {
  if (policy.mode !== 'batch') return false
  const united = new Set([...draft.tags, ...tags])
  return (
    draft.calls >= policy.callsMax! ||
    draft.inputBytes + inputBytes + 1 > inputMaxBytes ||
    united.size > RUN_TAGS_MAX
  )
}

function opened(previous: Draft | undefined, call: NewCall, now: number): Draft {
  const { runId, policy, input, inputBytes, tags = [] } = call
  const batched = policy.mode === 'batch'
  return {
    ...{ runId, opener: call, mode: policy.mode, takesCalls: true, calls: 1, tags, isChanged: false },
    ...timesOf(previous, policy, now),
    input: batched ? undefined : { text: input },
    items: batched ? [input ?? 'null'] : [],
    inputBytes: batched ? inputBytes + '[]'.length : 0,
  }
}

function timesOf(
  previous: Draft | undefined,
  { mode, windowMs, limitMs, callsMax }: CollectPolicy,
  now: number,
): Pick<Draft, 'openedAt' | 'dueAt' | 'closesAt'> {
  if (mode !== 'throttle') {
    const dueAt = callsMax === 1 ? now : now + Math.min(windowMs, limitMs ?? windowMs)
    return { openedAt: now, dueAt, closesAt: dueAt }
  }
  if (previous?.mode !== 'throttle' || previous.closesAt <= now)
    return { openedAt: now, dueAt: now, closesAt: now + windowMs }
  const { openedAt, dueAt, closesAt } = previous
  // The run that waits for the end of the period takes no calls, because it was cancelled for example: another one waits in its place.
  if (dueAt > now) return { openedAt, dueAt, closesAt }
  return { openedAt: dueAt, dueAt: closesAt, closesAt: closesAt + windowMs }
}

function join(draft: Draft, { policy, input, inputBytes, tags = [] }: NewCall, now: number): void {
  draft.calls += 1
  draft.isChanged = true
  if (policy.mode === 'batch') {
    draft.items.push(input ?? 'null')
    draft.inputBytes += inputBytes + ','.length
    draft.tags = [...new Set([...draft.tags, ...tags])]
    if (draft.calls >= policy.callsMax!) draft.dueAt = now
    return
  }
  draft.input = { text: input }
  draft.tags = tags
  if (policy.mode === 'debounce')
    draft.dueAt = Math.min(
      now + policy.windowMs,
      draft.openedAt + (policy.limitMs ?? Number.POSITIVE_INFINITY),
    )
}

function newRun({ dueAt, tags, input, items }: Draft, opener: NewCall): NewRun {
  const { runId, definitionId, workflow, deadlineMs, reportsEnd, priority, stepPriorities } = opener
  return {
    ...{ runId, definitionId, workflow, deadlineMs, reportsEnd, priority, stepPriorities, key: null },
    input: input === undefined ? `[${items.join(',')}]` : input.text,
    tags: tags.length === 0 ? undefined : tags,
    // Also for a run that may begin at once: a start time tells readers that the run may carry several calls.
    startAt: dueAt,
  }
}

function changeOf({ runId, dueAt, input, items, tags, mode }: Draft): ChangedCollection {
  return { runId, dueAt, tags, ...(mode === 'batch' ? { items } : { input }) }
}
