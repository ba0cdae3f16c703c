import type { Stillness } from '../adapter/stillness.ts'
import type { Clock } from '../clock.ts'
import type { Loop } from '../engine/base/loop.ts'
import type { Logger } from '../logger.ts'
import type { MachineEvent } from '../machine/index.ts'
import type { Hint, Identity, NewRuns, StartedRun, Store } from '../store/index.ts'
import type { Asker } from './asker.ts'
import type { Code } from './code.ts'
import { Commits } from './commits.ts'
import type { FoldParts } from './fold.ts'
import { Handlers } from './handlers.ts'
import { Intake } from './intake.ts'
import { Lease } from './lease.ts'
import { openLoops } from './loops.ts'
import type { Flight, Owned } from './owned.ts'
import { Post } from './post.ts'
import { Recovery } from './recovery.ts'
import { withResults } from './results.ts'
import { soon } from './soon.ts'
import type { Interruption } from './under-way.ts'
import type { Worker } from './worker.ts'

/** How long handlers have that were told to end. */
const INTERRUPTED_MS = 500
/** How long a worker that stops has for its last commits. */
const FLUSHED_MS = 3_000
const LOOK_MS = 20

export interface OwnerOptions {
  readonly store: Store
  /** Whoever has the code of these definitions. */
  readonly asker: Asker
  /** By the store’s numbers. */
  readonly codes: ReadonlyMap<number, Code>
  /** Of another definition, for a run that is taken for an operator: the shape as it is stored, without policy. Default: such a run is left alone. */
  readonly codeOf?: (definition: number) => Promise<Code | undefined>
  readonly clock: Clock
  /** A new time-ordered UUID. */
  readonly newId: () => string
  readonly log: Logger
  readonly name: string
  readonly host?: string | null
  /** How many handlers run at once. 0: it acts for an operator, and calls none. */
  readonly slots: number
  /** Slots for undos beyond these. Default 0. */
  readonly undoSlots?: number
  readonly leaseMs: number
  readonly tickMs: number
  /** How many runs it has in memory at most. Default 5000. */
  readonly ownedMax?: number
  /** Of a store on virtual time, which is also that of `clock`. */
  readonly stillness?: Stillness | undefined
  /** The status of a run has changed, or it is parked, or not any more. With when it ended. */
  readonly onTurned?: ((owned: Owned, finishedAt: number | null) => void) | undefined
}

/**
 * The one writer of its runs. It claims runs, keeps them in memory, decides with the machine, commits what has changed in groups, and only then lets
 * handlers begin.
 */
export class Owner implements Worker {
  readonly store: Store
  readonly asker: Asker
  readonly codes: ReadonlyMap<number, Code>
  readonly codeOf: (definition: number) => Promise<Code | undefined>
  readonly clock: Clock
  readonly isVirtual: boolean
  readonly newId: () => string
  readonly log: Logger
  readonly name: string
  readonly host: string | null
  readonly slots: number
  readonly leaseMs: number
  readonly ownedMax: number
  readonly owned = new Map<string, Owned>()
  readonly handlers: Handlers
  readonly commits: Commits
  readonly recovery: Recovery
  readonly intake: Intake
  readonly lease: Lease
  readonly post: Post
  readonly foldParts: FoldParts
  readonly onTurned: OwnerOptions['onTurned']
  /** By which people know it, in its present identity. */
  workerId = ''
  identity: Identity = { worker: 0, epoch: 0 }
  /** How often runs have come and gone. */
  moves = 0
  /** It takes no more runs, and gives away those that it has. */
  isLeaving = false
  isClosed = false
  readonly #loops: readonly Loop[]
  readonly #tickMs: number
  #isWoken = false
  #unlisten: () => void = () => {}

  constructor(options: OwnerOptions) {
    const { store, asker, codes, clock, newId, log, slots, leaseMs, tickMs } = options
    this.store = withResults(
      store,
      async (definition) => codes.get(definition) ?? options.codeOf?.(definition),
    )
    this.asker = asker
    this.codes = codes
    this.codeOf = options.codeOf ?? (async () => undefined)
    this.clock = clock
    this.isVirtual = options.stillness !== undefined
    this.newId = newId
    this.log = log
    this.name = options.name
    this.host = options.host ?? null
    this.slots = slots
    this.leaseMs = leaseMs
    this.ownedMax = options.ownedMax ?? 5_000
    this.onTurned = options.onTurned
    this.#tickMs = tickMs
    this.commits = new Commits(this)
    this.recovery = new Recovery(this)
    this.intake = new Intake(this)
    this.lease = new Lease(this)
    this.post = new Post(this)
    const { now } = this
    this.foldParts = { now, newId, asker }
    this.handlers = new Handlers({
      ...{ asker, clock, offset: () => this.lease.offset },
      slots: Math.max(1, slots),
      undoSlots: options.undoSlots ?? 0,
      mayBegin: this.mayBegin,
      tell: (owned, event) => this.tell(owned, event),
      answer: (flight) => this.#answered(flight),
      onFree: () => this.wake(),
    })
    this.#loops = openLoops({
      ...{ owner: this, tickMs, stillness: options.stillness },
      tick: () => this.#tick(),
      sweep: () => this.#sweep(),
    })
  }

  /** Nobody can have declared it dead. */
  readonly mayBegin = (): boolean => this.clock.now() < this.lease.end

  /** The store’s clock, in epoch milliseconds. */
  readonly now = (): number => this.clock.now() + this.lease.offset

  /** Registers, and begins to work. */
  async start(): Promise<void> {
    await this.lease.register()
    this.#unlisten = this.store.onHint((hint) => this.#heard(hint))
    for (const loop of this.#loops) loop.wake()
  }

  /** Runs of this process: they are this worker’s at once, as far as they can begin now. */
  startRuns(request: NewRuns): Promise<readonly StartedRun[]> {
    return this.intake.start(request)
  }

  /** Gives all runs away. Handlers have so long to end; then they are told to, and what still runs is somebody else’s: it counts as no failure. */
  async stop(graceMs: number): Promise<void> {
    this.isLeaving = true
    this.#unlisten()
    for (const owned of this.owned.values()) this.#giveAway(owned)
    if (!(await this.#gone(graceMs))) {
      for (const owned of this.owned.values()) this.handlers.interrupt(owned, 'stopping')
      await this.#gone(INTERRUPTED_MS)
      for (const owned of this.owned.values()) this.handlers.release(owned)
      await this.#gone(FLUSHED_MS)
    }
    this.isClosed = true
    await Promise.all(this.#loops.map((loop) => loop.stop()))
    for (const owned of [...this.owned.values()]) this.forget(owned, 'lost')
    await this.store.leave(this.identity.worker).catch((error: unknown) => {
      this.log.warn('A worker that stops could not say so to its store. Its lease ends by itself.', { error })
    })
  }

  /** Waits until it has given everything away. Whether it has. */
  async #gone(limitMs: number): Promise<boolean> {
    const end = this.clock.now() + limitMs
    while (!this.#isGone && this.clock.now() < end)
      await new Promise<void>((resolve) => this.clock.after(Math.min(LOOK_MS, limitMs), resolve))
    return this.#isGone
  }

  get #isGone(): boolean {
    return this.owned.size === 0 && this.isQuiet
  }

  /** Nothing is under way between the worker and its store that makes runs come or go. */
  get isQuiet(): boolean {
    return this.commits.areIdle && !this.intake.isBusy && this.recovery.isOver
  }

  /** Something is to be done: in the next turn of the event loop, together with what else happens in this one. */
  wake(): void {
    if (this.#isWoken || this.isClosed) return
    this.#isWoken = true
    soon(() => {
      this.#isWoken = false
      if (this.isClosed) return
      this.commits.flush()
      this.intake.claim()
    })
  }

  /** Something has happened to a run. */
  tell(owned: Owned, event: MachineEvent): void {
    if (owned.isGone) return
    owned.events.push(event)
    this.commits.mark(owned)
  }

  #answered(flight: Flight): void {
    const { owned } = flight
    if (owned.isGone) return
    owned.answers.push(flight)
    this.commits.mark(owned)
  }

  /** It is not this worker’s any more. */
  forget(owned: Owned, reason: Interruption): void {
    owned.isGone = true
    owned.timer?.cancel()
    this.handlers.interrupt(owned, reason)
    if (this.owned.get(owned.id) === owned) this.owned.delete(owned.id)
    this.moves += 1
  }

  /** Wakes it when it is due. */
  arm(owned: Owned): void {
    owned.timer?.cancel()
    owned.timer = undefined
    const { due } = owned
    if (due === Number.POSITIVE_INFINITY) return
    owned.timer = this.clock.after(Math.max(0, due - this.now()), () => this.#ring(owned))
  }

  #ring(owned: Owned): void {
    const now = this.now()
    owned.timer = undefined
    const { run, dues } = owned
    if (owned.deadlineAt <= now) this.tell(owned, { type: 'deadline' })
    if (!run.paused)
      for (const [unit, due] of dues ?? []) if (due <= now) this.tell(owned, { type: 'due', unit })
    if (!owned.isBusy && !owned.hasNews) this.arm(owned)
  }

  hint(hint: Hint): void {
    this.store.hint(hint)
  }

  #heard(hint: Hint): void {
    if ('worker' in hint) {
      if (hint.worker === this.identity.worker) this.post.read('hinted').catch(() => {})
    } else if (hint.definitions.length === 0 || hint.definitions.some((id) => this.codes.has(id)))
      this.intake.expect('hinted')
  }

  async #tick(): Promise<void> {
    const since = this.clock.now() - this.#tickMs
    for (const owned of this.owned.values()) {
      if (owned.isBusy || owned.isQueued) continue
      if (this.handlers.isStuck(owned)) this.#giveAway(owned)
      else this.#recordLate(owned, since)
    }
    this.intake.expect('all')
    if (this.owned.size > 0) await this.post.read('all')
  }

  /** What still runs at its second tick gets its row. */
  #recordLate(owned: Owned, since: number): void {
    for (const { unit, serial, calledAt, phase } of owned.flights.values()) {
      if (calledAt === null || calledAt > since || phase === 'body') continue
      const u = owned.run.units[unit]
      if (u?.flying === true && u.serial === serial && u.written !== serial)
        this.tell(owned, { type: 'record', unit, serial, before: false })
    }
  }

  #giveAway(owned: Owned): void {
    owned.yields = true
    this.handlers.withdraw(owned)
    this.commits.mark(owned)
  }

  async #sweep(): Promise<void> {
    const { runs, placed } = await this.store.sweep()
    if (runs + placed > 0) this.intake.expect('hinted')
  }
}
