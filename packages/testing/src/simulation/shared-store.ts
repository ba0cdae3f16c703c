import type {
  Adapter,
  CallerTransaction,
  Clock,
  StepTransaction,
  TransactRequest,
} from '@belay/workflow/adapter'
import type { Dump } from '../invariants/index.ts'
import { isLookedAt } from './calls.ts'
import type { DamageKind } from './damage.ts'
import type { InFlight } from './in-flight.ts'
import type { SimulatedStore, Written } from './store.ts'

/** Verbs that change nothing. Any other verb may change something. */
const READS: ReadonlySet<string> = new Set<keyof Adapter>([
  'open',
  'now',
  'held',
  'recorded',
  'readAttempts',
  'load',
  'stopping',
  'readHistory',
  'readDefinitions',
  'findApprovals',
  'findDefinition',
  'listDefinitions',
  'findRun',
  'upcoming',
  'readRun',
  'readValues',
  'observeRuns',
  'readStatuses',
  'readResults',
  'listRuns',
  'countRuns',
  'countReady',
  'listWorkers',
  'listHeld',
  'findEnded',
  'diagnose',
])

/** The store that all processes of a world share. It shows the world's time, and is dumped no more often than it changes. */
export class SharedStore {
  readonly #store: SimulatedStore
  readonly #clock: Clock
  readonly #inFlight: InFlight
  #shownAt: number | undefined
  #dump: { readonly held: Promise<Dump>; validUntil: number } | undefined
  #lookedAt: Promise<unknown> = Promise.resolve()
  /** The open transaction of a store with one session. */
  #session: { readonly ended: Promise<void> } | undefined

  /** What is left of a dump without the damaged. */
  #others: (dump: Dump) => Dump = (dump) => dump

  constructor(store: SimulatedStore, clock: Clock, inFlight: InFlight) {
    this.#store = store
    this.#clock = clock
    this.#inFlight = inFlight
  }

  connect(): Adapter {
    return this.#store.connect()
  }

  /** Everything in the store. While the only session has a transaction open, the earlier content, which only that transaction could change. */
  dump(): Promise<Dump> {
    const known = this.#dump
    if (known !== undefined && (this.#clock.now() < known.validUntil || this.#session !== undefined)) {
      return known.held
    }
    const held = this.#call('dump', async () => this.#others(await this.#store.dump()))
    const dump = { held, validUntil: Number.POSITIVE_INFINITY }
    this.#dump = dump
    void held.then(
      ({ runs }) => {
        dump.validUntil = Math.min(
          ...runs.map(({ run }) => (run.status === 'scheduled' ? run.startAt! : Number.POSITIVE_INFINITY)),
        )
      },
      () => this.#forget(),
    )
    return held
  }

  /** Calls a verb between the oracle's looks at the store. Two calls whose looks must not mix are called one after the other. */
  ask({ verb, args, run, onAsk, onAnswer }: Ask): Promise<unknown> {
    const ask = async () => {
      await onAsk(verb, args)
      const answer = await this.call(verb, run)
      await onAnswer(verb, args, answer)
      return answer
    }
    if (!isLookedAt(verb, args)) return ask()
    const answer = this.#lookedAt.then(ask)
    this.#lookedAt = answer.catch(() => {})
    return answer
  }

  /** Calls a verb at the world's time. */
  async call<Answer>(verb: string, run: () => Promise<Answer>): Promise<Answer> {
    if (READS.has(verb)) return this.#call(verb, run)
    this.#forget()
    try {
      return await this.#call(verb, run)
    } finally {
      this.#forget()
    }
  }

  /** True if a verb takes real time, as in a database. */
  get takesTime(): boolean {
    return this.#store.takesTime
  }

  /** False while the only session has a transaction open. A caller that doesn't wait in the world must not wait for that transaction. */
  get isFree(): boolean {
    return this.#session === undefined
  }

  /** Waits while the only session has a transaction open, then for `turn`. */
  async free(turn: () => Promise<void>): Promise<void> {
    while (this.#session !== undefined) {
      await this.#session.ended
      await turn()
    }
  }

  /** Runs a step's transaction. While its handler runs, the world continues. */
  transact(adapter: Adapter, request: TransactRequest): ReturnType<Adapter['transact']> {
    return this.#open((aside) =>
      adapter.transact({ ...request, work: (tx) => aside(tx, () => request.work(tx)) }),
    )
  }

  /** Runs an application's transaction. While its work runs, the world continues. */
  transaction<Result>(work: (tx: CallerTransaction) => Promise<Result>): Promise<Result> {
    return this.#open((aside) => this.#store.transaction((tx) => aside(tx, () => work(tx))))
  }

  write(tx: StepTransaction, written: Written): Promise<void> {
    return this.#timed('write', () => this.#store.write(tx, written))
  }

  /** Damages a run. From then on a dump shows only the others. */
  async damage(runId: string, kind: DamageKind, others: (dump: Dump) => Dump): Promise<void> {
    this.#others = others
    await this.#call('damage', () => this.#store.damage(runId, kind))
    this.#forget()
  }

  /** What the store shows depends on its time. */
  clockWasSet(): void {
    this.#forget()
  }

  written(): Promise<readonly Written[]> {
    return this.#call('written', () => this.#store.written())
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #call<Answer>(verb: string, run: () => Promise<Answer>): Promise<Answer> {
    return this.#timed(verb, async () => {
      await this.#showTime()
      return run()
    })
  }

  /** Virtual time does not wait for a store in memory: a call that does not end at once waits there for the world. */
  #timed<Answer>(verb: string, run: () => Promise<Answer>): Promise<Answer> {
    return this.#store.takesTime ? this.#inFlight.during(verb, run) : run()
  }

  async #open<Result>(run: (aside: Aside) => Promise<Result>): Promise<Result> {
    const begin = () => (this.#store.takesTime ? this.#inFlight.begin('a transaction') : () => {})
    // Nobody can read while the only session has a transaction open.
    if (this.#store.singleSession) await this.dump()
    let end = begin()
    let ended = () => {}
    await this.#showTime()
    if (this.#store.singleSession) this.#session = { ended: new Promise((resolve) => (ended = resolve)) }
    try {
      return await run(async (tx, work) => {
        end()
        try {
          return await work()
        } finally {
          end = begin()
          await this.#showTime(tx)
        }
      })
    } finally {
      this.#endTransaction()
      end()
      ended()
    }
  }

  #endTransaction(): void {
    // The only session may roll back the time that it was told.
    if (this.#session !== undefined) this.#shownAt = undefined
    this.#session = undefined
    this.#forget()
  }

  #forget(): void {
    if (this.#session === undefined) this.#dump = undefined
  }

  async #showTime(tx?: unknown): Promise<void> {
    const now = this.#clock.now()
    if (now === this.#shownAt || (this.#session !== undefined && tx === undefined)) return
    this.#shownAt = now
    await this.#store.setTime(now, this.#session === undefined ? undefined : tx)
  }
}

export interface Ask {
  readonly verb: string
  readonly args: readonly unknown[]
  readonly run: () => Promise<unknown>
  /** Reads the store right before the call. */
  readonly onAsk: (verb: string, args: readonly unknown[]) => Promise<void>
  /** Sees every answer of the store, whether or not it arrives. The world stands still until it returns. */
  readonly onAnswer: (verb: string, args: readonly unknown[], answer: unknown) => Promise<void>
}

/** Does the work in an open transaction, and lets the world continue meanwhile. */
type Aside = <Result>(tx: unknown, work: () => Promise<Result>) => Promise<Result>
