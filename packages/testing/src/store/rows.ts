import type { JsonText, SavedDefinition } from '@belay/workflow/adapter'
import type { NewIdentity, OwnedRun, RunRow, StepRow, StoredMail } from '@belay/workflow/store'

/** A run in memory, besides what the port tells of it. Rows are never changed in place: whoever has one may keep it. */
export interface MemoryRun extends RunRow {
  readonly inputHash: string | null
  /** Of a run that has ended: the last fence of an owner. */
  readonly fence: number
}

export interface LiveRow {
  readonly run: string
  readonly definition: number
  readonly owner: number | null
  readonly fence: number
  readonly begun: boolean
  readonly lost: boolean
  readonly due: number
  /** In minutes. */
  readonly lead: number
  readonly place: number | null
}

export interface MemoryStep extends StepRow {
  readonly item: JsonText
  readonly output: JsonText
  readonly error: JsonText
  readonly undoError: JsonText
  /** When its newest attempt began and ended, forward and of its undo. */
  readonly times: Times
  readonly undoTimes: Times
}

/** Epoch milliseconds. */
export interface Times {
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export const NO_TIMES: Times = { startedAt: null, finishedAt: null }

export interface MailRow extends StoredMail {
  readonly run: string
  readonly seen: number | null
  readonly reopens: boolean
  readonly answer: JsonText
  readonly isApplied: boolean
}

export interface WorkerRow extends NewIdentity {
  readonly worker: number
  readonly epoch: number
  readonly isAlive: boolean
  readonly busy: number
  readonly leaseEndsAt: number
  readonly startedAt: number
}

const MINUTE_MS = 60_000

/** Where a run stands once it is due; null before that. */
export function placeAt(now: number, due: number, lead: number): number | null {
  return due <= now ? due - lead * MINUTE_MS : null
}

/** All tables of a store in memory. */
export class Rows {
  readonly now: () => number
  readonly definitions: Map<number, SavedDefinition>
  readonly runs: Map<string, MemoryRun>
  /** The ids of runs, by workflow and key. */
  readonly keys: Map<string, string>
  readonly live: Map<string, LiveRow>
  readonly steps: Map<string, Map<number, MemoryStep>>
  /** By run and key, in the order of their sequence. */
  readonly mail: Map<string, MailRow>
  /** What of it is not applied. */
  readonly open: Map<number, MailRow>
  readonly workers: Map<number, WorkerRow>
  readonly counters: { sequence: number; worker: number }
  /** Grows with whatever somebody may look for. */
  changes = 0

  constructor(now: () => number, of?: Rows) {
    this.now = now
    this.definitions = new Map(of?.definitions)
    this.runs = new Map(of?.runs)
    this.keys = new Map(of?.keys)
    this.live = new Map(of?.live)
    this.steps = new Map(of?.steps)
    this.mail = new Map(of?.mail)
    this.open = new Map(of?.open)
    this.workers = new Map(of?.workers)
    this.counters = { ...(of?.counters ?? { sequence: 0, worker: 0 }) }
  }

  /** What a transaction works on until it commits. It adds rows, and changes none of steps. */
  fork(): Rows {
    return new Rows(this.now, this)
  }

  isAlive({ worker, epoch }: { readonly worker: number; readonly epoch: number }): boolean {
    const row = this.workers.get(worker)
    return row?.isAlive === true && row.epoch === epoch
  }

  keep(row: MailRow): void {
    this.mail.set(mailKey(row.run, row.key), row)
    if (row.isApplied) this.open.delete(row.sequence)
    else this.open.set(row.sequence, row)
  }

  openOf(run: string): readonly MailRow[] {
    return [...this.open.values()].filter((row) => row.run === run)
  }

  /** Somebody owns it from now on. */
  own(live: LiveRow, owner: number): LiveRow {
    const owned = { ...live, owner, fence: live.fence + 1, place: null }
    this.live.set(live.run, owned)
    return owned
  }

  /** A run that has ended goes on. */
  reopen(id: string, owner: number | null): LiveRow {
    const { definition, fence, priority: lead } = this.runs.get(id)!
    const now = this.now()
    const live: LiveRow = {
      ...{
        run: id,
        definition,
        owner,
        fence: owner === null ? fence : fence + 1,
        begun: true,
        lost: false,
        lead,
      },
      ...(owner === null
        ? { due: now, place: placeAt(now, now, lead) }
        : { due: Number.POSITIVE_INFINITY, place: null }),
    }
    this.live.set(id, live)
    return live
  }

  /** What its owner needs. Without steps if they are those of its definition. */
  owned(id: string, hasSteps: boolean): OwnedRun {
    const { inputHash: _, fence, ...run } = this.runs.get(id)!
    const live = this.live.get(id)
    const steps = [...(this.steps.get(id)?.values() ?? [])].sort((one, other) => one.no - other.no)
    return {
      ...run,
      fence: live?.fence ?? fence,
      begun: live?.begun === true,
      lost: live?.lost === true,
      steps: hasSteps ? steps.map(stepOf) : null,
      mail: this.openOf(id).map(mailOf),
    }
  }
}

export const mailKey = (run: string, key: string): string => `${run} ${key}`

export const mailOf = ({ sequence, key, event, payload }: MailRow): StoredMail => ({
  sequence,
  key,
  event,
  payload,
})

function stepOf({
  item: _i,
  output: _o,
  error: _e,
  undoError: _u,
  times: _t,
  undoTimes: _v,
  ...step
}: MemoryStep): StepRow {
  return step
}
