import { type Clock, turnOfEventLoop } from '@belay/workflow/adapter'
import type { Hint, Store } from '@belay/workflow/store'
import { realClock } from '../clock/real-clock.ts'
import { VirtualClock } from '../clock/virtual-clock.ts'
import { claim, take } from './claims.ts'
import { commit } from './commit.ts'
import { send, within } from './mail.ts'
import { RefusedError } from './refused.ts'
import { mailOf, Rows } from './rows.ts'
import { define, start } from './starts.ts'
import { given, StoreTransaction } from './transaction.ts'
import { bump, leave, register, renew, sweep } from './workers.ts'

export interface MemoryStore extends Store {
  readonly clock: Clock
  /** @internal */
  readonly rows: Rows
  /** A caller’s transaction: it commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result>
  /** Calls `hook` before and after each verb, until another one is set. What it throws before means that nothing was done, and after that the answer is lost. */
  fault(hook: ((verb: keyof Store, when: 'before' | 'after') => void) | null): void
}

const MAIL_MAX = 2_000

/** Verbs after which somebody may find something. What a claim, a take or a sweep does, its caller goes on with. */
const CHANGES: ReadonlySet<keyof Store> = new Set([
  ...(['define', 'start', 'send', 'within', 'commit', 'register', 'leave', 'bump'] as const),
])

/**
 * The reference of the new port, in the memory of the process. Default clock: a {@link VirtualClock}. A verb is one synchronous step, so none meets another.
 */
export function memoryStore({ clock = new VirtualClock() }: { readonly clock?: Clock } = {}): MemoryStore {
  const rows = new Rows(() => clock.now())
  const listeners = new Set<(hint: Hint) => void>()
  let fault: Parameters<MemoryStore['fault']>[0] = null
  const verb = async <Answer>(
    name: keyof Store,
    act: (rows: Rows) => Answer,
    tx?: unknown,
  ): Promise<Answer> => {
    // On virtual time nothing else happens in between.
    if (clock === realClock) await turnOfEventLoop()
    fault?.(name, 'before')
    const answer = tx === undefined ? act(rows) : given(rows, tx).do(act)
    if (CHANGES.has(name)) rows.changes += 1
    fault?.(name, 'after')
    return answer
  }
  return {
    ...{ name: 'memory', clock, rows, fault: (hook) => (fault = hook) },
    ...{ open: async () => {}, migrate: async () => {}, close: async () => listeners.clear() },
    ...workersOver(verb),
    ...readsOver(verb),
    refusalOf: (error) => (error instanceof RefusedError ? error.refusal : null),
    define: (definitions, own) => verb('define', (over) => define(over, definitions), own?.tx),
    start: (request, own) => verb('start', (over) => start(over, request, own?.owner), own?.tx),
    send: (mail, own) => verb('send', (over) => send(over, mail), own?.tx),
    within: (tx, outcome) => verb('within', (over) => within(over, outcome), tx),
    claim: (identity, request) => verb('claim', (over) => claim(over, identity, request)),
    take: (identity, runs) => verb('take', (over) => take(over, identity, runs)),
    commit: (identity, members) => verb('commit', (over) => commit(over, identity, members)),
    transaction: (work) => inTransaction(rows, work),
    ...hintsTo(listeners),
  }
}

async function inTransaction<Result>(rows: Rows, work: (tx: unknown) => Promise<Result>): Promise<Result> {
  const transaction = new StoreTransaction(rows)
  try {
    const result = await work(transaction)
    transaction.commit()
    rows.changes += 1
    return result
  } finally {
    transaction.rollBack()
  }
}

function hintsTo(listeners: Set<(hint: Hint) => void>): Pick<Store, 'hint' | 'onHint'> {
  return {
    hint(hint) {
      for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener(hint))
    },
    onHint(listener) {
      const own = (hint: Hint) => listener(hint)
      listeners.add(own)
      return () => listeners.delete(own)
    },
  }
}

type Verb = <Answer>(name: keyof Store, act: (rows: Rows) => Answer) => Promise<Answer>

function workersOver(verb: Verb): Pick<Store, 'register' | 'renew' | 'leave' | 'bump' | 'sweep'> {
  return {
    register: (identity) => verb('register', (rows) => register(rows, identity)),
    renew: (worker, renewal) => verb('renew', (rows) => renew(rows, worker, renewal)),
    leave: (worker) => verb('leave', (rows) => leave(rows, worker)),
    bump: (worker) => verb('bump', (rows) => bump(rows, worker)),
    sweep: () => verb('sweep', sweep),
  }
}

function readsOver(verb: Verb): Pick<Store, 'answers' | 'load' | 'peek' | 'mailOf' | 'payloads'> {
  return {
    answers: (sequences) => verb('answers', (rows) => answersOf(rows, sequences)),
    load: (worker, which) =>
      verb('load', (rows) => {
        const named = new Set('only' in which ? which.only : which.except)
        return [...rows.live.values()]
          .filter(({ owner, run }) => owner === worker && named.has(run) === 'only' in which)
          .map(({ run }) => rows.owned(run, true))
      }),
    peek: (runs) =>
      verb('peek', (rows) => runs.filter((run) => rows.runs.has(run)).map((run) => rows.owned(run, true))),
    mailOf: (worker, how) =>
      verb('mailOf', (rows) =>
        [...rows.open.values()]
          .filter(({ run, seen }) => (how === 'hinted' ? seen : rows.live.get(run)?.owner) === worker)
          .slice(0, MAIL_MAX)
          .map((row) => ({ run: row.run, ...mailOf(row) })),
      ),
    payloads: (wanted) =>
      verb('payloads', (rows) =>
        wanted.flatMap(({ run, no }) => {
          const step = rows.steps.get(run)?.get(no)
          if (step === undefined) return []
          const { item, output, error, undoError } = step
          return [{ run, no, item, output, error: undoError ?? error }]
        }),
      ),
  }
}

function answersOf(rows: Rows, sequences: readonly number[]) {
  const wanted = new Set(sequences)
  const applied = [...rows.mail.values()].filter(
    ({ sequence, isApplied }) => isApplied && wanted.has(sequence),
  )
  return new Map(applied.map(({ sequence, answer }) => [sequence, answer]))
}
