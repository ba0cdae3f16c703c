import {
  type Adapter,
  type Outcome,
  StoreContendedError,
  StoreUnavailableError,
  type TransactRequest,
  type WakeHint,
} from '@belay/workflow/adapter'
import type { Random } from './random.ts'
import type { Process } from './scheduler.ts'

/** How often a call meets which fault, each from 0 to 1. */
export interface FaultRates {
  /** The call fails before it took effect. */
  readonly failsBefore: number
  /** The call takes effect and its answer is lost. */
  readonly failsAfter: number
  /** The call takes up to two virtual seconds. */
  readonly slow: number
  /** The client gives the call up, and it takes effect in the store some virtual seconds later. */
  readonly late: number
  /** Somebody else holds a row that the call needs. */
  readonly contended: number
}

const VERBS = [
  'open',
  'now',
  'saveDefinitions',
  'startRuns',
  'registerWorker',
  'renew',
  'deregisterWorker',
  'claim',
  'held',
  'settle',
  'recorded',
  'load',
  'sweep',
  'stopping',
  'drain',
  'beginUndo',
  'cancelRuns',
  'changeRun',
  'readHistory',
  'readAttempts',
  'readDefinitions',
  'findDefinition',
  'deliverSignals',
  'findApprovals',
  'findRun',
  'expireRuns',
  'upcoming',
  'readRun',
  'readStatuses',
  'listRuns',
  'countRuns',
  'listWorkers',
  'listHeld',
  'findEnded',
  'prune',
  'releaseKeys',
  'diagnose',
] as const satisfies readonly (keyof Adapter)[]

/** Verbs that wait for rows which others may hold. */
const CONTENDED: ReadonlySet<keyof Adapter> = new Set([
  'startRuns',
  'settle',
  'beginUndo',
  'cancelRuns',
  'changeRun',
  'deliverSignals',
])

/** For how long an abandoned statement may go on in the store. */
const LATE_MAX_MS = 20_000

export interface FaultyParts {
  readonly process: Process
  /** The store's own: what a client gave up goes on here, even when the client is dead. */
  readonly server: Process
  readonly random: Random
  readonly rates: () => FaultRates
  /** Sees every call as the store answered it, whether or not the answer arrives. */
  readonly onAnswer: (verb: keyof Adapter, args: readonly unknown[], answer: unknown) => void
}

/**
 * One process's connection to the shared store. Before and after every call the process waits for its turn, so that a crash, a freeze or
 * another process's call can fall in between; and calls fail as connections do.
 */
export function faultyAdapter(store: Adapter, parts: FaultyParts): Adapter {
  const { process, server, random, rates, onAnswer } = parts
  const wrapped: Record<string, unknown> = {
    name: 'simulated',
    clock: process.clock,
    onWake: (listener: (hint?: WakeHint) => void) =>
      store.onWake((hint) => void process.turn().then(() => listener(hint))),
    wake: (definitionIds?: readonly number[]) => store.wake(definitionIds),
    close: async () => {},
  }
  for (const verb of VERBS) {
    const call = store[verb] as (...args: unknown[]) => Promise<unknown>
    wrapped[verb] = async (...args: unknown[]) => {
      await process.turn(random.chance(rates().slow) ? random.integer(1, 2_000) : 0)
      if (random.chance(rates().failsBefore)) throw lostConnection(verb)
      if (CONTENDED.has(verb) && random.chance(rates().contended)) throw contended(verb)
      if (random.chance(rates().late)) {
        const goOn = async () => onAnswer(verb, args, await call.apply(store, args))
        // What the store says to nobody, a refusal too, is lost.
        void server
          .turn(random.integer(1, LATE_MAX_MS))
          .then(goOn)
          .catch(() => {})
        throw lostConnection(verb)
      }
      const answer = await call.apply(store, args)
      onAnswer(verb, args, answer)
      await process.turn(random.chance(rates().slow) ? random.integer(1, 2_000) : 0)
      if (random.chance(rates().failsAfter)) throw lostConnection(verb)
      return answer
    }
  }
  wrapped['transact'] = faultyTransact(store, parts)
  return wrapped as unknown as Adapter
}

/** The same for the verb that has an inside: between its handler and its commit, too, the process may be killed or frozen. */
function faultyTransact(store: Adapter, parts: FaultyParts): Adapter['transact'] {
  const { process, random, rates, onAnswer } = parts
  return async (request) => {
    await process.turn(random.chance(rates().slow) ? random.integer(1, 2_000) : 0)
    if (random.chance(rates().failsBefore)) throw lostConnection('transact')
    let submitted: Outcome | undefined
    const work: TransactRequest['work'] = async (tx) => {
      const wanted = await request.work(tx)
      await process.turn(random.chance(rates().slow) ? random.integer(1, 2_000) : 0)
      if (random.chance(rates().failsAfter)) throw conflict()
      submitted = wanted?.outcome
      return wanted
    }
    const transacted = await store.transact({ ...request, work })
    if (submitted !== undefined && transacted.type === 'settled') {
      onAnswer('transact', [request.workerId, submitted], transacted.settlement)
    }
    await process.turn(random.chance(rates().slow) ? random.integer(1, 2_000) : 0)
    if (submitted !== undefined && random.chance(rates().failsAfter)) throw lostConnection('COMMIT')
    return transacted
  }
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
