import {
  type Adapter,
  CONTENDED_VERBS,
  type Outcome,
  type StepTransaction,
  StoreContendedError,
  StoreUnavailableError,
  type TransactRequest,
} from '@belay/workflow/adapter'
import { isWithin, verbsOf } from './calls.ts'
import type { Hints } from './hints.ts'
import type { Random } from './random.ts'
import type { Process } from './scheduler.ts'
import type { Ask, SharedStore } from './shared-store.ts'

/** How often calls meet each fault, from 0 to 1. */
export interface FaultRates {
  /** The call fails before it takes effect. */
  readonly failsBefore: number
  /** The call takes effect, but its answer is lost. */
  readonly failsAfter: number
  /** The call takes up to two virtual seconds. */
  readonly slow: number
  /** The client gives the call up, and the call takes effect in the store some virtual seconds later. */
  readonly late: number
  /** Another transaction holds a row that the call needs. */
  readonly contended: number
}

const CONTENDED: ReadonlySet<string> = new Set(CONTENDED_VERBS)

/** How long an abandoned statement may still run in the store. */
const LATE_MAX_MS = 20_000

export interface FaultyParts extends Pick<Ask, 'onAsk' | 'onAnswer'> {
  readonly process: Process
  /** The store's own process: statements that a client gave up continue here, even if the client is dead. */
  readonly server: Process
  readonly shared: SharedStore
  readonly hints: Hints
  readonly random: Random
  readonly rates: () => FaultRates
  /** A call begins: the process may be frozen before the store is asked. */
  readonly onBegin: (verb: string, args: readonly unknown[]) => void
}

/**
 * One process's connection to the shared store. Before and after every call the process waits for its turn, so that a crash, a freeze or another
 * process's call can fall in between. Calls fail as connections do.
 */
export function faultyAdapter(store: Adapter, parts: FaultyParts): Adapter {
  const wrapped: Record<string, unknown> = {
    name: 'simulated',
    clock: parts.process.clock,
    singleSession: store.singleSession,
    onWake: (listener: Parameters<Adapter['onWake']>[0]) => parts.hints.listen(parts.process, listener),
    wake: (definitionIds?: readonly number[]) => parts.hints.send(definitionIds),
    close: async () => {},
  }
  for (const verb of verbsOf(store)) wrapped[verb] = faultyVerb(store, verb, parts)
  wrapped['transact'] = faultyTransact(store, parts)
  return wrapped as unknown as Adapter
}

function faultyVerb(store: Adapter, verb: string, parts: FaultyParts) {
  const { process, server, shared, random, rates, onBegin, onAsk, onAnswer } = parts
  const call = store[verb as keyof Adapter] as (...args: unknown[]) => Promise<unknown>
  const ask = (args: unknown[]) =>
    shared.ask({ verb, args, run: () => call.apply(store, args), onAsk, onAnswer })
  return async (...args: unknown[]) => {
    const within = isWithin(args)
    onBegin(verb, args)
    await process.turn(randomDelayMs(parts))
    if (!within) await shared.free(() => process.turn())
    if (random.chance(rates().failsBefore)) throw lostConnection(verb)
    if (CONTENDED.has(verb) && random.chance(rates().contended)) throw contended(verb)
    if (!within && random.chance(rates().late)) {
      const later = () => server.turn(random.integer(1, LATE_MAX_MS))
      // Nobody receives this answer, nor a refusal.
      void later()
        .then(() => shared.free(() => server.turn()))
        .then(() => ask(args))
        .catch(() => {})
      throw lostConnection(verb)
    }
    const answer = await ask(args)
    await process.turn(randomDelayMs(parts))
    if (random.chance(rates().failsAfter)) throw lostConnection(verb)
    return answer
  }
}

/** The same for `transact`, which has an inside: between its handler and its commit, too, the process may be killed or frozen. */
function faultyTransact(store: Adapter, parts: FaultyParts): Adapter['transact'] {
  const { process, shared, random, rates, onAnswer } = parts
  return async (request) => {
    await process.turn(randomDelayMs(parts))
    await shared.free(() => process.turn())
    if (random.chance(rates().failsBefore)) throw lostConnection('transact')
    let submitted: Outcome | undefined
    let within: StepTransaction | undefined
    const work: TransactRequest['work'] = async (tx) => {
      within = tx
      const wanted = await untilDeath(process, request.work(tx))
      await untilDeath(process, process.turn(randomDelayMs(parts)))
      if (random.chance(rates().failsAfter)) throw conflict()
      submitted = wanted?.outcome
      return wanted
    }
    const transacted = await shared.transact(store, { ...request, work }).catch(async (error: unknown) => {
      // A dead process receives no answer.
      if (process.dead) await process.turn()
      throw error
    })
    if (submitted !== undefined && transacted.type === 'settled') {
      await onAnswer('transact', [request.workerId, submitted, within], transacted.settlement)
    }
    await process.turn(randomDelayMs(parts))
    if (submitted !== undefined && random.chance(rates().failsAfter)) throw lostConnection('COMMIT')
    return transacted
  }
}

/** The server rolls back the open transaction of a client that is gone. */
export function untilDeath<Result>(process: Process, work: Promise<Result>): Promise<Result> {
  const gone = process.died.then(() => {
    throw lostConnection('a transaction')
  })
  return Promise.race([work, gone])
}

function randomDelayMs({ random, rates }: FaultyParts): number {
  return random.chance(rates().slow) ? random.integer(1, 2_000) : 0
}

function conflict(): Error {
  return Object.assign(new Error('Simulated: given up for another transaction.'), { code: '40001' })
}

function contended(verb: string): StoreContendedError {
  return new StoreContendedError(`Simulated: somebody holds a row that ${verb} needs.`)
}

function lostConnection(verb: string): StoreUnavailableError {
  return new StoreUnavailableError(`Simulated: the connection broke during ${verb}.`)
}
