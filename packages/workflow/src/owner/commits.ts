import { pause } from '../engine/base/runtime.ts'
import type { Committed, Member, TurnedRun } from '../store/index.ts'
import { type Folded, fold, giveBack } from './fold.ts'
import { tellRecorded } from './handlers.ts'
import type { Flight, Owned } from './owned.ts'
import type { Doubted, Worker } from './worker.ts'

/** How many commits are under way at once. */
const LANES = 2
const BATCH_MAX = 500
/** How long a run rests whose commit was refused, at first. */
const BACKOFF_MS = 1_000
const BACKOFF_MAX_MS = 60_000

/** A fold that waits for its commit. */
interface Waiting extends Folded {
  readonly member: Member
}

/** Commits what has happened to runs: one commit of a run at a time, many runs in one commit, all of it or nothing. */
export class Commits {
  readonly #owner: Worker
  #ready: Owned[] = []
  #lanes = 0

  constructor(owner: Worker) {
    this.#owner = owner
  }

  get waiting(): number {
    return this.#ready.length
  }

  get areIdle(): boolean {
    return this.#lanes === 0 && this.#ready.length === 0
  }

  /** It is to be folded, once its last commit is answered. */
  mark(owned: Owned): void {
    if (owned.isBusy || owned.isQueued || owned.isGone) return
    owned.isQueued = true
    this.#ready.push(owned)
    this.#owner.wake()
  }

  flush(): void {
    while (this.#lanes < LANES && this.#ready.length > 0 && this.#owner.recovery.isOver) {
      this.#lanes += 1
      void this.#flush(this.#ready.splice(0, BATCH_MAX)).then(() => {
        this.#lanes -= 1
        this.#owner.wake()
      })
    }
  }

  async #flush(batch: readonly Owned[]): Promise<void> {
    const waiting: Waiting[] = []
    for (const owned of batch) {
      if (owned.isGone) continue
      const folded = this.#fold(owned)
      if (folded === undefined) continue
      if (folded.member === null) this.#settle(folded, null)
      else waiting.push(folded as Waiting)
    }
    if (waiting.length > 0) await this.#submit(waiting)
  }

  #fold(owned: Owned): Folded | undefined {
    const { events, answers } = owned
    try {
      return fold(owned, this.#owner.foldParts)
    } catch (error) {
      void this.#refuse({ owned, events, answers }, error)
      return undefined
    }
  }

  /** Commits folds, or finds out why not. Never rejects. */
  async #submit(given: readonly Waiting[]): Promise<void> {
    const owner = this.#owner
    await owner.recovery.over
    const waiting = given.filter(({ owned }) => !owned.isGone)
    if (waiting.length === 0) return
    const { identity } = owner
    let answer: Committed
    try {
      answer = await owner.store.commit(
        identity,
        waiting.map(({ member }) => member),
      )
    } catch (error) {
      if (owner.store.refusalOf(error) === null) return owner.recovery.doubt(waiting, { isLost: true })
      const [first] = waiting
      if (waiting.length === 1) return this.#refuse(first!, error)
      // Nothing was written, and memory is what the rows are to be: the same rows go again in halves.
      const half = waiting.length >> 1
      await this.#submit(waiting.slice(0, half))
      return this.#submit(waiting.slice(half))
    }
    if (answer.result === 'committed') return this.#committed(waiting, answer)
    if (answer.result === 'behind') {
      // Another epoch has begun meanwhile, unless the worker is dead.
      if (owner.recovery.isOver && owner.identity === identity) await owner.recovery.reborn()
      return this.#submit(waiting)
    }
    const strange = new Set(answer.runs)
    await owner.recovery.doubt(
      waiting.filter(({ owned }) => strange.has(owned.id)),
      { isLost: false },
    )
    return this.#submit(waiting.filter(({ owned }) => !strange.has(owned.id)))
  }

  #committed(waiting: readonly Waiting[], answer: Extract<Committed, { result: 'committed' }>): void {
    const { started, notify } = answer
    for (const each of waiting) this.#settle(each, started)
    for (const worker of notify) this.#owner.hint(worker === null ? { definitions: [] } : { worker })
    if (started.length > 0) {
      const definitions = waiting.flatMap(({ member }) => member.starts.map(({ definition }) => definition))
      this.#owner.hint({ definitions: [...new Set(definitions)] })
    }
  }

  /** The commit of a run was answered: what it made ready leaves. */
  #settle({ owned, out, member, answers }: Folded, started: readonly string[] | null): void {
    owned.lost = false
    owned.refusals = 0
    this.#tell(answers)
    if (member?.turned != null) this.#tellTurn(owned, member.turned)
    if (owned.isGone) return
    if (member !== null && member.after !== 'stays') {
      giveBack(out)
      this.#owner.forget(owned, 'aborted')
      return
    }
    const { handlers } = this.#owner
    for (const unit of out.abort) handlers.abort(owned, unit)
    if (!owned.yields) {
      for (let place = 0; place < out.dispatch.size; place += 1) {
        const u = out.dispatch.keyAt(place)
        const ask = out.dispatch.at(place)
        // Less what was answered in the same fold, or is with a handler that stayed attached.
        if (u.flying && u.serial === ask.serial && owned.flights.get(ask.unit)?.serial !== ask.serial)
          handlers.dispatch(owned, ask)
      }
    }
    for (const { run: child } of member?.starts ?? []) {
      if (started?.includes(child.id) === true) continue
      owned.events.push({ type: 'mail', unit: child.parent!.unit!, mail: { child: child.id, refused: true } })
    }
    giveBack(out)
    tellRecorded(owned)
    this.free(owned)
  }

  #tell(answers: readonly Flight[]): void {
    const { asker } = this.#owner
    if (asker.recorded === undefined) return
    for (const { answer, counts } of answers) asker.recorded(answer!, counts)
  }

  #tellTurn(owned: Owned, { status, parked, finishedAt }: TurnedRun): void {
    const isAsBefore = owned.status === status && owned.parked === parked
    owned.status = status
    owned.parked = parked
    if (!isAsBefore) this.#owner.onTurned?.(owned, finishedAt)
  }

  /** It may be folded again. */
  free(owned: Owned): void {
    owned.isBusy = false
    this.#owner.arm(owned)
    if (owned.hasNews) this.mark(owned)
  }

  /** A run whose commit is refused though it is alone: what its own data are to blame for is applied again as a failure, and anything else later. */
  async #refuse({ owned, events, answers }: Doubted, error: unknown): Promise<void> {
    const { clock, log, recovery, store } = this.#owner
    owned.refusals += 1
    const isBlamed = store.refusalOf(error) === 'data' && owned.refusals === 1
    if (isBlamed) for (const flight of answers) this.#blame(flight, error)
    else {
      const backoffMs = Math.min(BACKOFF_MS * 2 ** (owned.refusals - 1), BACKOFF_MAX_MS)
      log.error('The store refuses what has happened to a run. It is kept, and tried again.', {
        ...{ runId: owned.id, error, retryMs: backoffMs },
      })
      await pause(clock, backoffMs)
    }
    await recovery.doubt([{ owned, events, answers }], { isLost: false })
  }

  /** Its effect is there, but what it answered cannot be kept. */
  #blame(flight: Flight, cause: unknown): void {
    const { owned, unit, serial, phase, answer, startedAt } = flight
    if (answer?.type !== 'done' && answer?.type !== 'failed') return
    const error = this.#owner.asker.unstorable(owned, unit, cause)
    if (answer.type === 'failed') flight.answer = { ...answer, error }
    else {
      const succeeded = phase === 'run' ? { succeeded: true as const } : {}
      flight.answer = { type: 'failed', unit, serial, error, startedAt, ...succeeded }
    }
  }
}
