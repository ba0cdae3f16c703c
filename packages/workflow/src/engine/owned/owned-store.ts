import type { Adapter, ChangedRun } from '../../adapter/index.ts'
import type { Owned } from '../../owner/index.ts'
import type { Store } from '../../store/index.ts'

/** An adapter whose runs have owners. */
export interface OwnedAdapter extends Adapter {
  readonly store: Store
  /** Calls `close` when the adapter closes. */
  onClose(close: () => Promise<void>): void
}

export function storeOf(adapter: Adapter): OwnedAdapter {
  if ('store' in adapter) return adapter as OwnedAdapter
  throw new Error(`The adapter ${adapter.name} has no store whose runs have owners.`)
}

/** What listeners are told of a run that has another status. `now`: by the store’s clock. */
export function changedRun(owned: Owned, finishedAt: number | null, now: number): ChangedRun {
  const { id, code, key, tags, createdAt, startAt, status, parked } = owned
  const since = Math.max(createdAt, startAt ?? createdAt)
  return {
    ...{ runId: id, definitionId: code.definition, key, tags: tags ?? [] },
    status: status === 'running' && parked ? 'parked' : status,
    durationMs: Math.max(0, Math.round((finishedAt ?? now) - since)),
  }
}
