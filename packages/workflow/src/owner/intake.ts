import { advance, load, type MachineEvent, type Row } from '../machine/index.ts'
import { hasEnded } from '../machine/outcomes.ts'
import type { Identity, NewRuns, OwnedRun, StartedRun } from '../store/index.ts'
import { unpacked } from '../store/pack.ts'
import { type Code, freshRun } from './code.ts'
import { eventOf } from './event-of.ts'
import { spareChanges } from './fold.ts'
import { letterOf } from './letters.ts'
import { Owned } from './owned.ts'
import { knownOf } from './stored.ts'
import type { Doubted, Worker } from './worker.ts'

/** So many runs may wait for a commit before more are claimed, and so many come with one claim: longer ones would hold up commits. */
const WAITING_MAX = 500
const CLAIMED_MAX = 500
const NO_CODES: ReadonlyMap<number, Code> = new Map()

/** How runs come to a worker: it claims them, starts them, or takes them for an operator. */
export class Intake {
  readonly #owner: Worker
  #isClaiming = false
  /** There may be runs to claim. */
  #more = true
  #mailed: 'none' | 'hinted' | 'all' = 'all'
  #after: string | null = null
  #starting = 0
  /** Handlers that had begun when the last claim was sent. */
  #begun = 0

  constructor(owner: Worker) {
    this.#owner = owner
  }

  /** Runs may be on their way to this worker. */
  get isBusy(): boolean {
    return this.#isClaiming || this.#starting > 0
  }

  /** A hint or a tick says that there may be runs: with mail, as its sender saw them or all of them. */
  expect(mailed: 'hinted' | 'all'): void {
    this.#more = true
    if (this.#mailed !== 'all') this.#mailed = mailed
    this.#owner.wake()
  }

  claim(): void {
    const { recovery, commits, slots, isLeaving } = this.#owner
    if (!this.#more || this.#isClaiming || isLeaving || slots === 0 || !recovery.isOver) return
    if (commits.waiting >= WAITING_MAX) return
    const max = this.#room
    if (max <= 0) return
    this.#isClaiming = true
    void this.#claim(max).finally(() => {
      this.#isClaiming = false
      this.#owner.wake()
    })
  }

  /** About as many as there are free slots, and as were begun while the last claim was under way. */
  get #room(): number {
    const { handlers, owned, ownedMax } = this.#owner
    return Math.min(handlers.free + handlers.begun - this.#begun, ownedMax - owned.size, CLAIMED_MAX)
  }

  async #claim(max: number): Promise<void> {
    const { identity, store, codes, handlers, log } = this.#owner
    const mailed = this.#mailed
    this.#begun = handlers.begun
    this.#more = false
    this.#mailed = 'none'
    try {
      const { runs, mailAfter } = await store.claim(identity, {
        definitions: [...codes.keys()],
        max,
        mailed: mailed === 'all' ? { after: this.#after } : mailed,
      })
      if (mailed === 'all') this.#after = mailAfter
      if (runs.length >= max) this.#more = true
      await this.#adoptAs(identity, runs)
    } catch (error) {
      log.warn('A claim of runs failed.', { error })
      if (mailed === 'all') this.#mailed = 'all'
      // Until the next tick, if it certainly did nothing.
      if (store.refusalOf(error) === null) await this.#owner.recovery.findLost()
    }
  }

  /** Starts runs that are this worker’s at once, as far as they can begin now. A lost answer is found out about. */
  async start(request: NewRuns): Promise<readonly StartedRun[]> {
    this.#starting += 1
    try {
      return await this.#start(request)
    } finally {
      this.#starting -= 1
    }
  }

  async #start(request: NewRuns): Promise<readonly StartedRun[]> {
    const { store } = this.#owner
    for (;;) {
      await this.#owner.recovery.over
      const { identity } = this.#owner
      try {
        const started = await store.start(request, { owner: identity })
        const mine = new Set(started.filter(({ owned }) => owned).map(({ id }) => id))
        await this.#adoptAs(
          identity,
          request.runs.filter(({ id }) => mine.has(id)).map((run) => this.#ownStart(request, run)),
        )
        return started
      } catch (error) {
        if (store.refusalOf(error) !== null) throw error
        await this.#owner.recovery.findLost()
      }
    }
  }

  #ownStart({ definition, workflow }: NewRuns, run: NewRuns['runs'][number]): OwnedRun {
    const { id, key, input, tags = null, priority = 0, parent = null, deadlineMs } = run
    const now = this.#owner.now()
    return {
      ...{ id, key, input, tags, priority, parent, definition, workflow, createdAt: now, startAt: null },
      ...{ status: 'running', paused: false, parked: false, cause: null, finishedAt: null, state: null },
      ...{
        deadlineAt: deadlineMs === undefined ? null : now + deadlineMs,
        fence: 1,
        begun: false,
        lost: false,
      },
      ...{ steps: null, mail: [] },
    }
  }

  /** Takes runs whatever they wait for, also such as have ended. Which of them are this worker’s now. */
  async take(ids: readonly string[]): Promise<readonly string[]> {
    const { identity, store, recovery } = this.#owner
    try {
      const runs = await store.take(identity, ids)
      await this.#adoptAs(identity, runs)
      return runs.map(({ id }) => id)
    } catch (error) {
      if (store.refusalOf(error) !== null) throw error
      await recovery.findLost()
      return ids.filter((id) => this.#owner.owned.has(id))
    }
  }

  /** In another epoch somebody has looked already what this worker owns, and may have gone on with it. */
  async #adoptAs(identity: Identity, runs: readonly OwnedRun[]): Promise<void> {
    const others = await this.#othersOf(runs)
    if (this.#owner.identity === identity && this.#owner.recovery.isOver) return this.#adopt(runs, others)
    await this.#owner.recovery.findLost()
  }

  /** Runs that are this worker’s now. */
  async adopt(runs: readonly OwnedRun[]): Promise<void> {
    this.#adopt(runs, await this.#othersOf(runs))
  }

  /** Of definitions of which this worker has no code. */
  async #othersOf(runs: readonly OwnedRun[]): Promise<ReadonlyMap<number, Code>> {
    const { codes, codeOf } = this.#owner
    const missing = new Set(runs.flatMap(({ definition }) => (codes.has(definition) ? [] : [definition])))
    if (missing.size === 0) return NO_CODES
    const found = await Promise.all([...missing].map(async (id) => [id, await codeOf(id)] as const))
    return new Map(found.flatMap(([id, code]) => (code === undefined ? [] : [[id, code]])))
  }

  #adopt(runs: readonly OwnedRun[], others: ReadonlyMap<number, Code>): void {
    const { codes, owned: known, isLeaving, slots, log } = this.#owner
    for (const run of runs) {
      if (known.has(run.id)) continue
      const code = codes.get(run.definition) ?? others.get(run.definition)
      if (code === undefined) {
        log.error(
          'A worker owns a run of which it does not know the definition. It is left until this worker ends.',
          { runId: run.id },
        )
        continue
      }
      const owned = new Owned(code, run)
      owned.yields = isLeaving || slots === 0 || !codes.has(run.definition)
      this.#owner.owned.set(owned.id, owned)
      this.#owner.moves += 1
      if (run.steps === null) this.#begin(owned, run)
      else this.rebuild(owned, run, { events: [], answers: [] })
    }
    this.#owner.wake()
  }

  /** A fresh run: unless its beginning writes rows, its first handlers need not wait for a commit. */
  #begin(owned: Owned, run: OwnedRun): void {
    const out = spareChanges()
    owned.run = freshRun(owned.code, knownOf(owned.code, run), out)
    owned.born = owned.run.born
    this.#read(owned, run)
    owned.out = out
    advance(owned.run, { type: 'begin' }, this.#owner.now(), out)
    const isImplied = out.dirty.size === 0 && out.start.length + out.mail.length === 0 && out.ended === null
    if (!isImplied || owned.yields) return this.#owner.commits.mark(owned)
    for (const ask of out.dispatch.values()) this.#owner.handlers.dispatch(owned, ask)
    out.dispatch.clear()
    if (owned.letters.length > 0) this.#owner.commits.mark(owned)
  }

  /** Memory from rows. What they say is with somebody is with a handler of ours, or in `events`, or is asked again. */
  rebuild(owned: Owned, stored: OwnedRun, { events, answers, hasLostCommits }: Omit<Doubted, 'owned'>): void {
    const { code } = owned
    owned.fence = stored.fence
    owned.lost = stored.lost
    owned.out = null
    owned.isBusy = true
    owned.isQueued = false
    owned.forgetOutputs()
    const known = knownOf(code, stored)
    const rows = stored.steps!.map(unpacked)
    const serials = serialsOf(owned, rows, hasLostCommits)
    const run = load(known, rows, code.spec, { begun: stored.begun, serials })
    owned.run = run
    owned.born = run.born
    owned.keepCause(stored.cause)
    this.#read(owned, stored)
    owned.answers = [...answers, ...owned.answers]
    const isAnswered = new Set(owned.answers.map(({ unit, serial }) => `${unit}:${serial}`))
    owned.dues = null
    for (const u of run.units) {
      if (u === undefined || hasEnded(u) || u.tries.due === null) continue
      owned.dues ??= new Map()
      owned.dues.set(u.no, u.tries.due)
    }
    this.#owner.handlers.follow(owned)
    const again = events.filter(({ type }) => type !== 'begin' && type !== 'takeover')
    const begin: MachineEvent[] = run.root.status === 'pending' ? [{ type: 'begin' }] : []
    const takeover: MachineEvent[] = stored.lost ? [...this.#outcomes(owned), { type: 'takeover' }] : []
    owned.events = [...begin, ...takeover, ...again, ...owned.events]
    if (!stored.lost && !owned.yields) this.#askAgain(owned, isAnswered)
    this.#owner.commits.free(owned)
    // With nothing to apply, that fold decides whether it only waits.
    this.#owner.commits.mark(owned)
  }

  #askAgain(owned: Owned, isAnswered: ReadonlySet<string>): void {
    for (const u of owned.run.units) {
      if (u?.flying !== true || isAnswered.has(`${u.no}:${u.serial}`)) continue
      if (owned.flights.get(u.no)?.serial === u.serial) continue
      const { no: unit, serial, phase, tries, recorded, status } = u
      // No handler begins after a stop.
      if (status === 'stopping') owned.events.push({ type: 'released', unit, serial, called: false })
      else
        this.#owner.handlers.dispatch(owned, {
          unit,
          serial,
          phase: phase!,
          suspect: tries.losses > 0 && !recorded,
        })
    }
  }

  #read(owned: Owned, { mail }: OwnedRun): void {
    owned.letters = mail.map(letterOf)
    owned.seen = mail.length === 0 ? owned.seen : new Set(mail.map(({ sequence }) => sequence))
  }

  /** What transactions have committed comes before a doubt of their handlers. It stays mail, which this fold marks as applied. */
  #outcomes(owned: Owned): MachineEvent[] {
    return owned.letters.flatMap((letter) => {
      const event = letter.event.type === 'within' ? eventOf(owned, letter, this.#owner.asker) : undefined
      return event !== undefined && 'type' in event ? [event] : []
    })
  }
}

/**
 * Serials that handlers have and no ask gets again. What comes right after a unit’s row is the ask which that row implies, and it stays with the handler that
 * has it; unless the store has lost commits, since then nobody knows what that handler was called for.
 */
function serialsOf(
  { flights }: Owned,
  rows: readonly Row[],
  hasLostCommits = false,
): ReadonlyMap<number, number> {
  if (flights.size === 0) return NO_SERIALS
  const written = new Map(rows.map(({ no, serial }) => [no, serial]))
  const known = flights.values().map(({ unit, serial }) => [unit, serial] as const)
  return new Map(
    known.filter(([unit, serial]) => serial > (written.get(unit) ?? serial) + (hasLostCommits ? 0 : 1)),
  )
}

const NO_SERIALS: ReadonlyMap<number, number> = new Map()
