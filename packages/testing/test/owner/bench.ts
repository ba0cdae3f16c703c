import type { Clock, DefinitionShape } from '@belay/workflow/adapter'
import type { Mail, NewRun, OwnedRun, Payloads, StartedRun, StepRow, Store } from '@belay/workflow/store'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import {
  type Code,
  codeOf,
  type Delivered,
  deliver,
  type MailEvent,
  Owner,
} from '../../../workflow/src/owner/index.ts'
import { type Draft, definitionOf } from '../machine/definitions.ts'
import { Link } from './link.ts'
import { type Called, type Handlers, hang, Script } from './script.ts'

/** A store, and how its time passes. */
export interface Host {
  readonly store: Store
  readonly clock: Clock
  readonly leaseMs: number
  /** Lets some time pass: virtual time, or a moment of real time. */
  pass(ms: number): Promise<void>
  /** A caller’s transaction: it commits when `work` resolves, and rolls back when it rejects. */
  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface TestWorker {
  readonly name: string
  readonly owner: Owner
  readonly link: Link
  /** Its process is gone: nothing of it reaches the store any more. */
  crash(): void
}

/** Far beyond what a busy machine takes: how long something takes is no matter of a test. */
const WAIT_MAX_MS = 60_000
const ASKED_AT_ONCE = 50

let made = 0
/** Ordered by time, and unique among all test files of one server. */
export function newId(): string {
  made += 1
  const digits = (Date.now() * 1_000 + (made % 1_000)).toString(16).padStart(16, '0').slice(-12)
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-${made.toString(16).padStart(12, '0')}`
}

/** Workers over one store, and what their handlers were called with. */
export class Bench {
  readonly #host: Host
  readonly #codes = new Map<number, Code>()
  readonly #handlers = new Map<string, Handlers>()
  readonly #workers: TestWorker[] = []
  readonly #identities = new Map<TestWorker, number>()
  readonly #late: Promise<unknown>[] = []
  #gates: (() => void)[] = []
  #isOpen = false
  #operator: TestWorker | null = null
  readonly calls: Called[] = []
  readonly logged: string[] = []
  /** A handler that ends when it is told to. */
  readonly hang = hang
  /** How many handlers are held at most at once. */
  heldMost = 0

  constructor(host: Host) {
    this.#host = host
  }

  get leaseMs(): number {
    return this.#host.leaseMs
  }

  get store(): Store {
    return this.#host.store
  }

  async define(
    name: string,
    drafts: Readonly<Record<string, Draft>>,
    handlers: Handlers = {},
  ): Promise<Code> {
    return this.defineShape(name, definitionOf(drafts).shape, handlers)
  }

  async defineShape(name: string, shape: DefinitionShape, handlers: Handlers): Promise<Code> {
    const [saved] = await this.store.define([{ name, version: 1, checksum: name, shape }])
    const code = codeOf(saved!.id, name, specOfShape(shape))
    this.#codes.set(saved!.id, code)
    this.#handlers.set(name, handlers)
    return code
  }

  /** A worker; with no `slots`, an operator’s process, which has no code. */
  async worker(
    name: string,
    {
      slots = 20,
      codes = this.#codes,
    }: { readonly slots?: number; readonly codes?: ReadonlyMap<number, Code> } = {},
  ): Promise<TestWorker> {
    const link = new Link(this.store)
    const { clock } = this.#host
    const asker = new Script({
      worker: name,
      handlers: (workflow) => this.#handlers.get(workflow)!,
      calls: this.calls,
      now: () => owner.now(),
    })
    const log = (message: string) => void this.logged.push(`${name}: ${message}`)
    const logger = { debug: log, info: log, warn: log, error: log }
    const owner: Owner = new Owner({
      ...{
        store: link.store,
        asker,
        clock,
        newId,
        log: logger,
        name,
        slots,
        leaseMs: this.#host.leaseMs,
        tickMs: 200,
      },
      codes: slots === 0 ? new Map() : codes,
      codeOf: async (definition) => this.#codes.get(definition),
    })
    await owner.start()
    const crash = () => {
      link.cut()
      for (const owned of [...owner.owned.values()]) owner.forget(owned, 'lost')
      owner.isClosed = true
    }
    const worker = { name, owner, link, crash }
    this.#workers.push(worker)
    this.#identities.set(worker, owner.identity.worker)
    return worker
  }

  /** As which it registered first. */
  firstIdentity(worker: TestWorker): number {
    return this.#identities.get(worker)!
  }

  /** Nothing of a worker gets through until that ends. */
  silence({ link }: TestWorker): { end(): void } {
    let end: () => void = () => {}
    const over = new Promise<void>((resolve) => {
      end = resolve
    })
    link.fault = (_verb, when) => (when === 'before' ? over : undefined)
    return {
      end() {
        link.fault = null
        end()
      },
    }
  }

  /** Waits within a handler until `release`. */
  async hold<Result>(act: () => Result): Promise<Awaited<Result>> {
    if (!this.#isOpen) {
      await new Promise<void>((resolve) => {
        this.#gates.push(resolve)
        this.heldMost = Math.max(this.heldMost, this.held)
      })
    }
    return await act()
  }

  get held(): number {
    return this.#gates.length
  }

  /** Handlers that are held go on, and others are not held any more. */
  release(): void {
    this.#isOpen = true
    const gates = this.#gates
    this.#gates = []
    for (const open of gates) open()
  }

  /** Within a handler: some of them longer than others. */
  aWhile(): Promise<void> {
    return new Promise((resolve) => this.#host.clock.after(10 * (1 + (this.calls.length % 7)), resolve))
  }

  after(ms: number, fire: () => void): void {
    this.#host.clock.after(ms, fire)
  }

  /** A process without code, the same at each call. */
  async operator(): Promise<TestWorker> {
    this.#operator ??= await this.worker('operator', { slots: 0 })
    return this.#operator
  }

  now(): number {
    return this.#host.clock.now()
  }

  /** Something that arrives late. */
  keep(late: Promise<unknown>): void {
    this.#late.push(late)
  }

  kept(): Promise<readonly unknown[]> {
    return this.awaiting(Promise.all(this.#late))
  }

  start(
    { definition, workflow, steps }: Code,
    runs: readonly Partial<NewRun>[],
    { by, tx }: { readonly by?: TestWorker; readonly tx?: unknown } = {},
  ): Promise<readonly StartedRun[]> {
    const request = {
      ...{ definition, workflow, steps },
      runs: runs.map((run) => ({ id: newId(), key: null, input: '{}', ...run })),
    }
    if (by !== undefined) return by.owner.startRuns(request)
    return this.store.start(request, { tx }).then((started) => {
      this.store.hint({ definitions: [definition] })
      return started
    })
  }

  async startOne(
    code: Code,
    run: Partial<NewRun> = {},
    how: { readonly by?: TestWorker } = {},
  ): Promise<string> {
    const [started] = await this.start(code, [run], how)
    return started!.id
  }

  /** Sends an event to a run through a process, and waits for the answer. */
  async send(
    { owner }: TestWorker,
    run: string,
    event: MailEvent,
    {
      operates = true,
      ...mail
    }: { readonly operates?: boolean } & Partial<Pick<Mail, 'key' | 'payload'>> = {},
  ): Promise<Delivered> {
    const sent = deliver(owner, [{ run, key: newId(), event: JSON.stringify(event), ...mail }], { operates })
    let answer: readonly Delivered[] | undefined
    const found = sent.then((found) => {
      answer = found
    })
    await this.until(async () => {
      await Promise.race([found, Promise.resolve()])
      return answer !== undefined
    })
    await found
    return answer![0]!
  }

  async peek(run: string): Promise<OwnedRun> {
    const [found] = await this.store.peek([run])
    return found!
  }

  async statuses(runs: readonly string[]): Promise<readonly string[]> {
    const byId = new Map((await this.store.peek(runs)).map(({ id, status }) => [id, status]))
    return runs.map((run) => byId.get(run)!)
  }

  /** Rows of a run by the name or the label of the unit. */
  async rows(run: string): Promise<ReadonlyMap<string, StepRow>> {
    const { steps } = await this.peek(run)
    return new Map(steps!.map((step) => [step.name ?? `${step.scope}[${step.index}]`, step]))
  }

  async output(run: string, name: string): Promise<unknown> {
    const found = await this.#payloadsOf(run, name)
    return found?.output == null ? null : JSON.parse(found.output)
  }

  async error(run: string, name: string): Promise<unknown> {
    const found = await this.#payloadsOf(run, name)
    return found?.error == null ? null : JSON.parse(found.error)
  }

  async #payloadsOf(run: string, name: string): Promise<Payloads | undefined> {
    const { no } = (await this.rows(run)).get(name)!
    const [found] = await this.store.payloads([{ run, no }])
    return found
  }

  /** All of these runs have this status. Asks only for those that are left, a few at a time. */
  async ended(runs: readonly string[], status = 'completed'): Promise<void> {
    let left = runs
    await this.until(
      async () => {
        const asked = left.slice(0, ASKED_AT_ONCE)
        const statuses = await this.statuses(asked)
        left = [...asked.filter((_, n) => statuses[n] !== status), ...left.slice(ASKED_AT_ONCE)]
        return left.length === 0
      },
      async () => [left.length, await this.statuses(left.slice(0, ASKED_AT_ONCE))],
    )
  }

  async until(what: () => boolean | Promise<boolean>, state: () => unknown = () => ''): Promise<void> {
    const end = this.#host.clock.now() + WAIT_MAX_MS
    while (!(await what())) {
      if (this.#host.clock.now() > end)
        throw new Error(
          `It does not come: ${JSON.stringify(await state())}\n${this.logged.slice(-5).join('\n')}`,
        )
      await this.#host.pass(10)
    }
  }

  pass(ms: number): Promise<void> {
    return this.#host.pass(ms)
  }

  transaction<Result>(work: (tx: unknown) => Promise<Result>): Promise<Result> {
    return this.#host.transaction(work)
  }

  callsOf(name: string, phase = 'run'): readonly Called[] {
    return this.calls.filter((call) => call.name === name && call.phase === phase)
  }

  /** Names of what was called, in order. */
  get called(): readonly string[] {
    return this.calls.map(({ name, phase }) => (phase === 'run' ? name : `${name}:${phase}`))
  }

  /** How often each effect was called for; those above once. */
  get repeated(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { effect, phase } of this.calls) {
      const key = `${effect}:${phase}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    return new Map([...counts].filter(([, count]) => count > 1))
  }

  /** Stops a worker while time passes. */
  async stop({ owner }: TestWorker, graceMs = 2_000): Promise<void> {
    await this.awaiting(owner.stop(graceMs))
  }

  /** Waits for a promise while time passes. */
  async awaiting<Result>(promise: Promise<Result>): Promise<Result> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    promise.then(over, over)
    await this.until(() => isOver)
    return promise
  }

  async close(): Promise<void> {
    for (const worker of this.#workers) {
      if (worker.owner.isClosed) continue
      worker.link.fault = null
      await this.stop(worker, 0)
    }
    await this.#host.close()
  }
}
