import {
  type Adapter,
  BelayError,
  type Clock,
  callback,
  checkArgument,
  checkOptions,
  type RunFilter,
  type Stillness,
  turnOfEventLoop,
  type WithinTransaction,
} from '@belay/workflow/adapter'
import { ProcessClock } from '../clock/process-clock.ts'
import { realClock } from '../clock/real-clock.ts'
import { VirtualClock } from '../clock/virtual-clock.ts'
import type { Dump } from '../invariants/dump.ts'
import { findApprovals } from './approvals.ts'
import { claim, held } from './claim.ts'
import { readCollected } from './collect.ts'
import { readHistory } from './control.ts'
import { damage } from './damage.ts'
import { findDefinition, listDefinitions, readDefinitions, saveDefinitions } from './definitions.ts'
import { expireRuns, upcoming } from './due.ts'
import { dump } from './dump.ts'
import { readLimitCircles } from './limit-circles.ts'
import { readLimitLines } from './limit-lines.ts'
import {
  declareLimits,
  findOlderRuns,
  pushBackLimits,
  readLimits,
  readLimitWaits,
  setLimit,
  tendLimits,
} from './limits.ts'
import { load } from './load.ts'
import { look } from './look.ts'
import { OPTIONS } from './memory-options.ts'
import { countRuns, listRuns, readResults, readRun, readStatuses } from './read.ts'
import { Rows } from './rows.ts'
import { findRunEnds, forgetRunEnds } from './run-ends.ts'
import { readFirings, readSchedules } from './schedules.ts'
import { settle } from './settle.ts'
import { findRun } from './signals.ts'
import { stillnessOf } from './stillness.ts'
import { cancelRuns, stopping } from './stop.ts'
import { sweep } from './sweep.ts'
import { readAttempts } from './trail.ts'
import {
  changeInTurn,
  changeSchedulesInTurn,
  collectInTurn,
  commit,
  deliverInTurn,
  recorded,
  settleWithin,
  startRunsInTurn,
  workIn,
} from './transact.ts'
import { givenTransaction, MemoryTransaction } from './transaction.ts'
import { beginUndo, drain } from './undo.ts'
import { countReady, diagnose, findEnded, prune, releaseKeys } from './upkeep.ts'
import { observeRuns, publish, readValues } from './values.ts'
import { wakeParents } from './wake-parents.ts'
import { Wakeup } from './wakeup.ts'
import { deregisterWorker, listHeld, listWorkers, registerWorker, renew } from './workers.ts'

/**
 * A store in the process's memory: the reference implementation of the port. `clock` is the time of the store and the engine; `'real'` is real time.
 * Default: a {@link VirtualClock} that starts at 2025-01-01 UTC.
 */
export function memory(): MemoryAdapter<VirtualClock>
export function memory(options: { readonly clock: 'real' }): MemoryAdapter<Clock>
export function memory<C extends Clock>(options: { readonly clock: C }): MemoryAdapter<C>
export function memory(options: { readonly clock?: Clock | 'real' } = {}): MemoryAdapter<Clock> {
  const given = checkOptions('memory()', options, OPTIONS).clock
  const clock = given === 'real' ? realClock : (given ?? new VirtualClock())
  return new MemoryAdapter(clock, new Rows(clock), new Wakeup())
}

type Verb<Name extends keyof Adapter> = Extract<Adapter[Name], (...args: never[]) => unknown>

/** One connection to a memory store. Made by {@link memory}; {@link connect} makes further ones. */
export class MemoryAdapter<C extends Clock = VirtualClock> implements Adapter, AsyncDisposable {
  readonly name = 'memory'
  readonly clock: C
  readonly stillness: Stillness
  readonly #rows: Rows
  readonly #wakeup: Wakeup
  readonly #listening = new Set<() => void>()
  #closed = false
  #isDead = false

  /** @internal */
  constructor(clock: C, rows: Rows, wakeup: Wakeup) {
    this.clock = clock
    this.#rows = rows
    this.#wakeup = wakeup
    this.stillness = stillnessOf(rows, this, () => !this.#closed && !this.#isDead)
  }

  /** Returns another adapter on the same store, like that of a second process. Closing one leaves the other open. */
  connect(): MemoryAdapter<C> {
    return new MemoryAdapter(this.clock, this.#rows, this.#wakeup)
  }

  /** @internal Another adapter on the same store, of a process that may die: from then on nothing it asks is answered. */
  connectProcess(): { readonly adapter: MemoryAdapter<Clock>; readonly die: () => void } {
    const clock = new ProcessClock(this.clock)
    const adapter = new MemoryAdapter<Clock>(clock, this.#rows, this.#wakeup)
    const die = () => {
      clock.stop()
      adapter.#isDead = true
      adapter.#stopListening()
    }
    return { adapter, die }
  }

  /** A copy of everything in the store, to look at or for {@link checkInvariants}. Works on a closed adapter too. */
  dump(): Dump {
    return dump(this.#rows)
  }

  /** @internal Like {@link dump}, but for reading only: what has not changed since the last look is the same object. */
  look(): Dump {
    return look(this.#rows)
  }

  /** @internal Damages the rows of a run. */
  damage(...[runId, kind]: [runId: string, kind: Parameters<typeof damage>[2]]): void {
    damage(this.#rows, runId, kind)
  }

  /**
   * Runs `work` in a transaction. Commits when it resolves, rolls back when it throws. Pass the transaction to `engine.run(workflow, input, { tx })`.
   */
  async transaction<Result>(work: (tx: MemoryTransaction) => Result | Promise<Result>): Promise<Result> {
    checkArgument('transaction()', 'the work', work, callback())
    const tx = await this.#verb(() => new MemoryTransaction(this.#rows))
    try {
      const result = await work(tx)
      await this.#change(() => commit(this.#rows, tx))
      this.wake()
      return result
    } finally {
      tx.rollBack()
    }
  }

  transact: Verb<'transact'> = async ({ workerId, work, keepAttempts }) => {
    const tx = await this.#verb(() => new MemoryTransaction(this.#rows))
    try {
      const end = await workIn(tx, work)
      if ('type' in end) return end
      const transacted = await this.#change(() =>
        settleWithin(this.#rows, tx, { workerId, keepAttempts, ...end }),
      )
      if (!tx.isEmpty) this.wake()
      return transacted
    } finally {
      tx.rollBack()
    }
  }

  open: Verb<'open'> = () => this.#verb(() => undefined)
  now: Verb<'now'> = () => this.#verb(() => this.#rows.now)

  saveDefinitions: Verb<'saveDefinitions'> = (definitions) =>
    this.#change(() => saveDefinitions(this.#rows, definitions))
  startRuns: Verb<'startRuns'> = (runs, within) =>
    this.#change(() => startRunsInTurn(this.#rows, runs, { tx: this.#given(within), lease: within?.lease }))
  collectCalls: Verb<'collectCalls'> = (calls, within) =>
    this.#change(() => collectInTurn(this.#rows, calls, this.#given(within)))
  readCollected: Verb<'readCollected'> = (runId) => this.#verb(() => readCollected(this.#rows, runId))

  registerWorker: Verb<'registerWorker'> = (worker) => this.#change(() => registerWorker(this.#rows, worker))
  renew: Verb<'renew'> = (renewal) => this.#verb(() => renew(this.#rows, renewal))
  deregisterWorker: Verb<'deregisterWorker'> = (worker) =>
    this.#change(() => deregisterWorker(this.#rows, worker))

  claim: Verb<'claim'> = (request) => this.#verb(() => claim(this.#rows, request))
  held: Verb<'held'> = (request) => this.#verb(() => held(this.#rows, request))
  settle: Verb<'settle'> = (settlement) => this.#change(() => settle(this.#rows, settlement))
  recorded: Verb<'recorded'> = (request) => this.#verb(() => recorded(this.#rows, request))
  publish: Verb<'publish'> = (request) => this.#change(() => publish(this.#rows, request))
  load: Verb<'load'> = (requests) => this.#verb(() => load(this.#rows, requests))

  sweep: Verb<'sweep'> = (request) => this.#verb(() => sweep(this.#rows, request))
  stopping: Verb<'stopping'> = (request) => this.#verb(() => stopping(this.#rows, request))
  drain: Verb<'drain'> = (request) => this.#verb(() => drain(this.#rows, request))
  beginUndo: Verb<'beginUndo'> = (plans, lease) => this.#change(() => beginUndo(this.#rows, plans, lease))
  cancelRuns: Verb<'cancelRuns'> = (request) => this.#change(() => cancelRuns(this.#rows, request))

  changeRun: Adapter['changeRun'] = (request, within) =>
    this.#change(() => changeInTurn(this.#rows, request, this.#given(within)))
  changeSchedules: Adapter['changeSchedules'] = (request, within) =>
    this.#change(() => changeSchedulesInTurn(this.#rows, request, this.#given(within)))
  readSchedules: Verb<'readSchedules'> = (filter) => this.#verb(() => readSchedules(this.#rows, filter))
  readFirings: Verb<'readFirings'> = (request) => this.#verb(() => readFirings(this.#rows, request))
  readHistory: Verb<'readHistory'> = (request) => this.#verb(() => readHistory(this.#rows, request))
  readAttempts: Verb<'readAttempts'> = (request) => this.#verb(() => readAttempts(this.#rows, request))
  readDefinitions: Verb<'readDefinitions'> = (ids, within) =>
    this.#verb(() => readDefinitions(this.#rows, ids, this.#given(within)))
  findDefinition: Verb<'findDefinition'> = (wanted, within) =>
    this.#verb(() => findDefinition(this.#rows, wanted, this.#given(within)))
  listDefinitions: Verb<'listDefinitions'> = (request) =>
    this.#verb(() => listDefinitions(this.#rows, request))
  deliverSignals: Verb<'deliverSignals'> = (signals, within) =>
    this.#change(() => deliverInTurn(this.#rows, signals, this.#given(within)))
  findApprovals: Verb<'findApprovals'> = (request) => this.#verb(() => findApprovals(this.#rows, request))
  findRun: Verb<'findRun'> = (run, within) => this.#verb(() => findRun(this.#rows, run, this.#given(within)))
  expireRuns: Verb<'expireRuns'> = (request) => this.#verb(() => expireRuns(this.#rows, request))
  upcoming: Verb<'upcoming'> = (request) => this.#verb(() => upcoming(this.#rows, request))

  readRun: Verb<'readRun'> = (runId, items) => this.#verb(() => readRun(this.#rows, runId, items))
  readValues: Verb<'readValues'> = (runId) => this.#verb(() => readValues(this.#rows, runId))
  observeRuns: Verb<'observeRuns'> = (runIds) => this.#verb(() => observeRuns(this.#rows, runIds))
  readStatuses: Verb<'readStatuses'> = (runIds, options) =>
    this.#verb(() => readStatuses(this.#rows, runIds, options))
  readResults: Verb<'readResults'> = (runIds) => this.#verb(() => readResults(this.#rows, runIds))
  listRuns: Verb<'listRuns'> = (filter: RunFilter) => this.#verb(() => listRuns(this.#rows, filter))
  countRuns: Verb<'countRuns'> = (request) => this.#verb(() => countRuns(this.#rows, request))

  countReady: Verb<'countReady'> = (request) => this.#verb(() => countReady(this.#rows, request))

  listWorkers: Verb<'listWorkers'> = (request) => this.#verb(() => listWorkers(this.#rows, request))
  listHeld: Verb<'listHeld'> = (request) => this.#verb(() => listHeld(this.#rows, request))
  findRunEnds: Verb<'findRunEnds'> = (request) => this.#verb(() => findRunEnds(this.#rows, request))
  wakeParents: Verb<'wakeParents'> = (childIds) => this.#change(() => wakeParents(this.#rows, childIds))
  forgetRunEnds: Verb<'forgetRunEnds'> = (ends) => this.#change(() => forgetRunEnds(this.#rows, ends))
  declareLimits: Verb<'declareLimits'> = (limits) => this.#verb(() => declareLimits(this.#rows, limits))
  setLimit: Verb<'setLimit'> = (request) => this.#change(() => setLimit(this.#rows, request))
  readLimits: Verb<'readLimits'> = (names) => this.#verb(() => readLimits(this.#rows, names))
  readLimitLines: Verb<'readLimitLines'> = (request) => this.#verb(() => readLimitLines(this.#rows, request))
  readLimitCircles: Verb<'readLimitCircles'> = (request) =>
    this.#verb(() => readLimitCircles(this.#rows, request?.runId))
  readLimitWaits: Verb<'readLimitWaits'> = (runId) => this.#verb(() => readLimitWaits(this.#rows, runId))
  pushBackLimits: Verb<'pushBackLimits'> = (request) =>
    this.#change(() => pushBackLimits(this.#rows, request))
  findOlderRuns: Verb<'findOlderRuns'> = (request) => this.#verb(() => findOlderRuns(this.#rows, request))
  tendLimits: Verb<'tendLimits'> = (request) => this.#verb(() => tendLimits(this.#rows, request))
  findEnded: Verb<'findEnded'> = (request) => this.#verb(() => findEnded(this.#rows, request))
  prune: Verb<'prune'> = (request) => this.#change(() => prune(this.#rows, request))
  releaseKeys: Verb<'releaseKeys'> = (request) => this.#change(() => releaseKeys(this.#rows, request))
  diagnose: Verb<'diagnose'> = (request) => this.#verb(() => diagnose(this.#rows, request))

  onWake(listener: () => void): () => void {
    if (this.#closed) return () => {}
    const stop = this.#wakeup.listen(listener)
    this.#listening.add(stop)
    return () => {
      stop()
      this.#listening.delete(stop)
    }
  }

  wake(): void {
    if (!this.#closed && !this.#isDead) this.#wakeup.send()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#stopListening()
  }

  #stopListening(): void {
    for (const stop of this.#listening) stop()
    this.#listening.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #given({ tx }: WithinTransaction = {}): MemoryTransaction | undefined {
    return tx === undefined ? undefined : givenTransaction(this.#rows, tx)
  }

  /** A verb that changes what others may look for. One that waits for its turn may change it when that comes. */
  #change<Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> {
    const changed = () => {
      this.#rows.changes += 1
    }
    return this.#verb(() => {
      changed()
      const answer = run()
      if (answer instanceof Promise) answer.then(changed, changed)
      return answer
    })
  }

  /** Every verb runs synchronously, which makes it atomic. Only its answer is a promise. */
  async #verb<Answer>(run: () => Answer | Promise<Answer>): Promise<Answer> {
    // Timers of virtual time fire without a turn.
    if ((this.clock as Clock) === realClock) await turnOfEventLoop()
    if (this.#isDead) return new Promise<never>(() => {})
    if (!this.#closed) return run()
    throw new BelayError('engine_closed', 'This memory adapter is closed. Create or connect another one.')
  }
}
