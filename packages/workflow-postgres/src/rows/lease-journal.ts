import { type ChangedRun, isTerminal } from '@belay/workflow/adapter'

/** The most journal rows that one claim removes. */
const TRIMMED_MAX = 1_000

/** A row of the journal of leases, as it was written. */
export interface JournalRow {
  readonly id: string
  readonly runIds: readonly string[]
}

interface OpenRow {
  readonly number: number
  openRuns: number
}

/** Knows, for the workers of this process, which of their journal rows name only runs that have ended. */
export class LeaseJournal {
  readonly #workers = new Map<string, WorkerJournal>()
  #written = 0

  /** A moment, for {@link ended}. Take it before the call that reports ended runs. */
  get moment(): number {
    return this.#written
  }

  wrote(workerId: string, row: JournalRow): void {
    this.#written += 1
    const known = this.#workers.get(workerId) ?? new WorkerJournal()
    this.#workers.set(workerId, known)
    known.add(row, this.#written)
  }

  /**
   * Notes that these runs have ended. This applies only to rows written before the call was made: since then, a run may have been sent forward again
   * and have come back to the worker with a new row.
   */
  ended(
    workerId: string,
    runs: readonly { readonly runId: string; readonly status: ChangedRun['status'] }[],
    moment: number,
  ): void {
    const journal = this.#workers.get(workerId)
    if (journal === undefined) return
    for (const { runId, status } of runs) if (isTerminal(status)) journal.end(runId, moment)
  }

  /** The rows that are no longer needed, to be removed. They are forgotten here; `held` removes those that this claim does not. */
  takeEnded(workerId: string): readonly string[] {
    return this.#workers.get(workerId)?.ended.splice(0, TRIMMED_MAX) ?? []
  }

  /** These rows were replaced by others. */
  removed(workerId: string, ids: readonly string[]): void {
    for (const id of ids) this.#workers.get(workerId)?.rows.delete(id)
  }

  forget(workerId: string): void {
    this.#workers.delete(workerId)
  }
}

class WorkerJournal {
  readonly rows = new Map<string, OpenRow>()
  readonly ended: string[] = []
  readonly #rowsOfRun = new Map<string, readonly string[]>()

  add({ id, runIds }: JournalRow, number: number): void {
    this.rows.set(id, { number, openRuns: runIds.length })
    for (const runId of runIds) {
      const ids = this.#rowsOfRun.get(runId)
      this.#rowsOfRun.set(runId, ids === undefined ? [id] : [...ids, id])
    }
  }

  end(runId: string, moment: number): void {
    const later: string[] = []
    for (const id of this.#rowsOfRun.get(runId) ?? []) {
      const row = this.rows.get(id)
      if (row === undefined) continue
      if (row.number > moment) {
        later.push(id)
        continue
      }
      row.openRuns -= 1
      if (row.openRuns > 0) continue
      this.rows.delete(id)
      this.ended.push(id)
    }
    if (later.length === 0) this.#rowsOfRun.delete(runId)
    else this.#rowsOfRun.set(runId, later)
  }
}
