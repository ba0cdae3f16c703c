import { type Adapter, BelayError, type Clock, type Stillness } from '@belay/workflow/adapter'
import { OPERATOR } from '../../../workflow/src/engine/asker/operator.ts'
import type { OwnedAdapter } from '../../../workflow/src/engine/owned/owned-store.ts'
import { startRuns } from '../../../workflow/src/engine/owned/worker.ts'
import { silentLogger } from '../../../workflow/src/logger.ts'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import { codeOf, Owner } from '../../../workflow/src/owner/index.ts'
import { realClock } from '../../src/clock/real-clock.ts'
import { VirtualClock } from '../../src/clock/virtual-clock.ts'
import type { Dump } from '../../src/invariants/dump.ts'
import { type MemoryStore, memoryStore } from '../../src/store/memory-store.ts'
import type { Rows } from '../../src/store/rows.ts'
import type { StoreTransaction } from '../../src/store/transaction.ts'
import { newId } from '../owner/bench.ts'
import { readsOver } from './reads.ts'
import { viewOf } from './runs.ts'
import { deliverOne } from './signals.ts'

type Given = { readonly clock?: Clock | 'real' }

/** Today’s adapter in memory, over the store whose runs have owners. What that store has not yet is refused. */
export function memory({ clock: given }: Given = {}): OwnedMemory {
  const clock = given === 'real' ? realClock : (given ?? new VirtualClock())
  return over(memoryStore({ clock }), clock)
}

export interface OwnedMemory extends OwnedAdapter {
  readonly clock: Clock
  connect(): OwnedMemory
  transaction<Result>(work: (tx: unknown) => Promise<Result> | Result): Promise<Result>
  dump(): Dump
}

export class MemoryAdapter {}

export class NotYetError extends Error {}

const notYet = (verb: string) => () => Promise.reject(new NotYetError(`${verb}() is not there yet.`))

const NOT_YET = [
  ...['collectCalls', 'registerWorker', 'renew', 'deregisterWorker', 'claim', 'held', 'settle', 'transact'],
  ...['recorded', 'publish', 'load', 'sweep', 'stopping', 'drain', 'beginUndo', 'cancelRuns', 'changeRun'],
  ...['expireRuns', 'upcoming', 'wakeParents', 'forgetRunEnds', 'changeSchedules', 'declareLimits'],
  ...['setLimit', 'pushBackLimits', 'findOlderRuns', 'tendLimits'],
] as const

function over(store: MemoryStore, clock: Clock): OwnedMemory {
  const { rows } = store
  const closing: (() => Promise<void>)[] = []
  const listening = new Set<() => void>()
  let isClosed = false
  const read = async <Answer>(act: () => Answer): Promise<Answer> => {
    if (isClosed)
      throw new BelayError('engine_closed', 'This memory adapter is closed. Create or connect another one.')
    return act()
  }
  const operator = lazily(async () => {
    const owner = operatorOver(store, clock, adapter.stillness)
    await owner.start()
    closing.push(() => owner.stop(0))
    return owner
  })
  const adapter: OwnedMemory = {
    ...Object.fromEntries(NOT_YET.map((verb) => [verb, notYet(verb)])),
    ...{ name: 'memory', store, clock },
    onClose: (close) => void closing.push(close),
    connect: () => over(store, clock),
    transaction: (work) => store.transaction(async (tx) => work(tx)),
    dump: () => ({
      definitions: [...rows.definitions.values()],
      runs: [...rows.runs.keys()].map((id) => {
        const { run, steps } = viewOf(rows, id)!
        return { run, steps, values: [] }
      }),
    }),
    open: () => read(() => undefined),
    now: () => read(() => rows.now()),
    saveDefinitions: (definitions, within) => store.define(definitions, within),
    startRuns: (runs, within) =>
      startRuns(
        runs,
        codesOf((within?.tx as StoreTransaction | undefined)?.fork ?? rows),
        async (request) => {
          const started = await store.start(request, within?.tx === undefined ? {} : { tx: within.tx })
          store.hint({ definitions: [request.definition] })
          return started
        },
      ),
    deliverSignals: async (signals, within) => {
      if (within?.tx !== undefined) throw new NotYetError('Signals in transactions are not there yet.')
      const owner = await operator()
      return Promise.all(signals.map((signal) => deliverOne(rows, owner, signal)))
    },
    ...readsOver(rows, read),
    onWake(listener) {
      const stop = store.onHint((hint) =>
        'definitions' in hint ? listener({ definitionIds: hint.definitions } as never) : undefined,
      )
      listening.add(stop)
      return stop
    },
    wake: (definitions = []) => {
      if (!isClosed) store.hint({ definitions })
    },
    async close() {
      isClosed = true
      for (const stop of listening) stop()
      await Promise.all(closing.splice(0).map((close) => close()))
    },
  } as OwnedMemory
  return Object.assign(adapter, { stillness: stillnessOver(rows, adapter) })
}

function lazily<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

const codesOf = (rows: Rows) =>
  new Map(
    [...rows.definitions.values()].map(({ id, name, shape }) => [id, codeOf(id, name, specOfShape(shape))]),
  )

function operatorOver(store: MemoryStore, clock: Clock, stillness: Stillness | undefined): Owner {
  return new Owner({
    ...{ store, clock, newId, log: silentLogger, name: 'operator', slots: 0, leaseMs: 30_000, tickMs: 200 },
    ...{ codes: new Map(), asker: OPERATOR, stillness },
    codeOf: async (definition) => codesOf(store.rows).get(definition),
  })
}

/** What the store knows of its future. */
function stillnessOver(rows: Rows, adapter: Adapter): Stillness {
  const trusted = new Map<string, () => boolean>()
  const never = Number.POSITIVE_INFINITY
  return {
    of: adapter,
    get changes() {
      return rows.changes
    },
    claimableAt(definitions) {
      for (const { run } of rows.open.values()) if (rows.live.has(run)) return rows.now()
      let first = never
      for (const { owner, definition, due } of rows.live.values())
        if (owner === null && definitions?.includes(definition) !== false) first = Math.min(first, due)
      return first
    },
    deadlineAt: () => never,
    scheduleAt: () => never,
    lapsesAt() {
      let first = never
      for (const { run } of rows.open.values()) if (!rows.live.has(run)) return rows.now()
      for (const { worker, isAlive, leaseEndsAt } of rows.workers.values())
        if (isAlive && trusted.get(String(worker))?.() !== true) first = Math.min(first, leaseEndsAt + 1)
      return first
    },
    trust: (worker, isSure) => void trusted.set(worker, isSure),
  }
}
