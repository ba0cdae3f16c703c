import type {
  Identity,
  Mail,
  Member,
  NewRun,
  OwnedRun,
  StartedRun,
  StepRow,
  Store,
  TurnedRun,
  WrittenStep,
} from '@belay/workflow/store'
import type { OpenedStore } from './harness.ts'

/** What a store must do, by the sentence that says it. */
export type StoreCases = Readonly<Record<string, (given: StoreScenario) => Promise<void>>>

export const LEASE_MS = 10_000

let made = 0

/** A time-ordered id. */
export function newId(): string {
  made += 1
  const digits = made.toString(16).padStart(12, '0')
  return `01900000-0000-7000-8000-${digits}`
}

/** A store with the workflow `order` of two steps, and words for what cases do with it. */
export class StoreScenario {
  readonly store: Store
  readonly #opened: OpenedStore
  definition = 0

  constructor(opened: OpenedStore) {
    this.#opened = opened
    this.store = opened.store
  }

  async define(name = 'order'): Promise<number> {
    const steps = ['reserve', 'charge'].map((step, number) => ({
      name: step,
      dependsOn: number === 0 ? [] : [number - 1],
      compensate: 'never' as const,
    }))
    const [saved] = await this.store.define([{ name, version: 1, checksum: name, shape: { steps } }])
    this.definition = saved!.id
    return saved!.id
  }

  advance(ms: number): Promise<void> {
    return this.#opened.advance(ms)
  }

  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result> {
    return this.#opened.transaction(work)
  }

  async worker(slots = 10): Promise<Identity> {
    const id = newId()
    const { definition } = this
    return this.store.register({
      id,
      name: `w${id}`,
      host: null,
      leaseMs: LEASE_MS,
      slots,
      definitions: [definition],
    })
  }

  start(
    given: Partial<NewRun> = {},
    within: { readonly tx?: unknown; readonly owner?: Identity } = {},
  ): Promise<StartedRun> {
    return this.startAll([{ id: newId(), key: null, input: '{}', ...given }], within).then(([run]) => run!)
  }

  startAll(
    runs: readonly NewRun[],
    within: { readonly tx?: unknown; readonly owner?: Identity } = {},
  ): Promise<readonly StartedRun[]> {
    const { definition } = this
    return this.store.start({ definition, workflow: 'order', steps: STEPS, runs }, within)
  }

  async claim(
    identity: Identity,
    {
      max = 10,
      mailed = 'none',
    }: {
      readonly max?: number
      readonly mailed?: 'none' | 'hinted' | { readonly after: string | null }
    } = {},
  ): Promise<readonly OwnedRun[]> {
    return (await this.store.claim(identity, { definitions: [this.definition], max, mailed })).runs
  }

  async peek(run: string): Promise<OwnedRun> {
    const [found] = await this.store.peek([run])
    if (found === undefined) throw new Error(`There is no run ${run}.`)
    return found
  }

  async step(run: string, no: number): Promise<StepRow> {
    const { steps } = await this.peek(run)
    return steps!.find((step) => step.no === no)!
  }
}

export const STEPS = [
  { no: 1, scope: 0, name: 'reserve' },
  { no: 2, scope: 0, name: 'charge' },
]

/** A member that changes nothing but what is given. */
export function member(run: { readonly run: string; readonly fence: number } & Partial<Member>): Member {
  return {
    ...{ turned: null, ends: [], births: [], updates: [], drops: [], applied: [], mail: [], starts: [] },
    ...{ tombstones: [], begun: false, found: false, after: 'stays' as const },
    ...run,
  }
}

export const ended = (no: number, output: string | null = null) => ({
  ...{ no, output, startedAt: 1_000, finishedAt: 2_000 },
})

export const written = (no: number, more: Partial<WrittenStep> = {}): WrittenStep => ({
  ...{ no, scope: 0, name: null, index: null, label: null, status: 'running', round: 1, attempt: 1 },
  ...{ failures: 0, losses: 0, due: null, undo: null, state: null },
  ...more,
})

export const turned = (more: Partial<TurnedRun> = {}): TurnedRun => ({
  ...{ status: 'running', deadlineAt: null, priority: 0, paused: false, parked: false, state: null },
  finishedAt: null,
  ...more,
})

export const completed = (): TurnedRun => turned({ status: 'completed', finishedAt: 5_000 })

export const mailFor = (run: string, key: string, more: Partial<Mail> = {}): Mail => ({
  ...{ run, key, event: '{"type":"cancel"}' },
  ...more,
})
