import type { PGliteInterface } from '@electric-sql/pglite'
import { type Cell, cell } from '../../../packages/dashboard/ui/src/stored.ts'
import type { AppCall, FromDatabase, FromEngine, ListedRun, Look, Problem } from '../messages.ts'
import { BALANCE, type Balance, type Entry, NEWEST_ENTRIES, SERVICES, type Service } from './balance.ts'
import { keepFiles, missing } from './missing.ts'
import type { Held, Line, Row, State, WorkerState } from './model.ts'
import { sentenceOf } from './sentence.ts'
import { REPLACED, Stage, type Told } from './stage.ts'

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'] as const
const STORY_MAX = 200
const RUNS_SHOWN = 12
const EVERY_MS = 300
const FREEZE_MS = 8_000
const CUT_MS = 5_000
/** Few: who executes what can be read. */
const SLOTS = 4

const BEGINNING: State = {
  phase: 'opening',
  progress: { part: 0, what: 'Loading PostgreSQL' },
  ...{ workers: [], names: {}, runs: [], rows: [], ledger: [], services: [], story: [] },
}

/** What the reader does, and what the screen shows of it. */
export class Playground {
  readonly state: Cell<State> = cell(BEGINNING)
  readonly #stage = new Stage({ slowness: 1, slots: SLOTS }, (told) => this.#told(told))
  #database: PGliteInterface | undefined
  #number = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Opens the database. Resolves to whether it is open: what keeps it from opening is in the state. */
  async open(options: { readonly fresh?: boolean; readonly inMemory?: boolean } = {}): Promise<boolean> {
    try {
      const lack = missing()
      if (lack !== undefined) throw new Error(lack)
      this.#database = await this.#stage.open(options)
      keepFiles()
      return true
    } catch (error) {
      this.fail(error)
      this.#set({ phase: 'stopped' })
      return false
    }
  }

  /** Of the page itself: neither the reader's code nor what was asked for. */
  fail(error: unknown): void {
    this.#set({ failure: problemFor(error) })
  }

  /** Plays this code with three workers. What is wrong in it is in the state: then what played before goes on. */
  async play(source: string): Promise<void> {
    if (this.#database === undefined) return
    const before = this.state.get().workers.length > 0 ? 'playing' : 'stopped'
    // A run that is started now would be of the code before.
    this.#set({ problem: undefined, phase: 'opening', progress: { part: 0.7, what: 'Trying the code' } })
    try {
      if (!(await this.#stage.play(source))) return
    } catch (error) {
      this.#set({ problem: problemFor(error), phase: before })
      return
    }
    clearTimeout(this.#timer)
    this.#set({ phase: 'opening', progress: { part: 0.8, what: 'Starting three workers' }, workers: [] })
    this.#set({ selected: undefined, look: undefined, rows: [] })
    try {
      await Promise.all(NAMES.slice(0, 3).map((name) => this.addWorker(name)))
      const [{ count } = { count: 0 }] = await this.sql<{ count: number }>(
        'select count(*)::int as count from belay.workflow_runs',
      )
      this.#number = count
      this.#set({ phase: 'playing' })
      await this.#read()
    } catch (error) {
      this.#set({ phase: 'stopped', problem: problemFor(error) })
    }
  }

  /** Starts so many runs, and shows the first of them. */
  async start(count: number, { isShown = true } = {}): Promise<void> {
    const first = this.#number + 1
    this.#number += count
    const [id] = await this.ask<string[]>({ do: 'start', first, count })
    if (id !== undefined && isShown) this.select(id)
  }

  select(id: string): void {
    this.#set({ selected: id, look: undefined, rows: [] })
  }

  async addWorker(name = this.#freeName()): Promise<void> {
    if (name === undefined) return
    const opening: WorkerState = { name, state: 'opening', since: Date.now(), steps: [] }
    const { workers } = this.state.get()
    const isBack = workers.some((worker) => worker.name === name)
    this.#set({
      workers: isBack
        ? workers.map((worker) => (worker.name === name ? opening : worker))
        : [...workers, opening],
    })
    await this.#stage.addWorker(name)
    this.#worker(name, { state: 'live' })
  }

  /** Throws if there is nothing to end. */
  crash(name: string): void {
    const worker = this.state.get().workers.find((one) => one.name === name)
    if (worker === undefined || worker.state === 'crashed')
      throw new Error(`Worker ${name} is gone already: add a worker.`)
    this.#stage.crash(name)
  }

  freeze(name: string): void {
    this.#worker(name, { state: 'frozen' })
    this.#stage.freeze(name, FREEZE_MS)
    this.#say(name, `is frozen for ${FREEZE_MS / 1_000} s: it cannot renew its lease of 3 s`, 'bad')
    // Its thread answers again only afterwards.
    setTimeout(() => this.#worker(name, { state: 'live' }, 'frozen'), FREEZE_MS)
  }

  cut(): void {
    this.#stage.cut(CUT_MS)
    this.#set({ cutUntil: Date.now() + CUT_MS })
    this.#say('database', `is cut off for ${CUT_MS / 1_000} s`, 'bad')
    setTimeout(() => this.#set({ cutUntil: undefined }), CUT_MS)
  }

  /** A service that is closed answers every call with an error. */
  async openService(name: string, isOpen: boolean): Promise<void> {
    await this.sql('update shop.services set open = $2 where name = $1', [name, isOpen])
    this.#say(name, isOpen ? 'is open again' : 'is closed: each call of it fails', isOpen ? 'good' : 'bad')
    this.#set({ services: await this.sql<Service>(SERVICES) })
  }

  slow(slowness: number, slots = SLOTS): void {
    this.#stage.setPace({ slowness, slots })
  }

  async act(verb: string, step: string | undefined, payload?: unknown): Promise<void> {
    const run = this.state.get().selected
    if (run !== undefined) await this.ask({ do: 'act', verb, run, step, payload })
  }

  /** Asks the application. */
  ask<Value>(call: AppCall): Promise<Value> {
    return this.#stage.ask<Value>(call)
  }

  /** The reader's own SQL, on the very database. */
  async sql<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const { rows } = await this.#database!.query<Row>(text, [...values])
    return rows
  }

  #freeName(): string | undefined {
    const { workers } = this.state.get()
    return NAMES.find((name) => !workers.some((worker) => worker.name === name && worker.state !== 'crashed'))
  }

  /** Reads what is shown, and again soon. While the database is cut off, what was read last stays. */
  async #read(): Promise<void> {
    const since = performance.now()
    try {
      if (this.state.get().cutUntil === undefined && !document.hidden) await this.#readOnce()
    } catch (error) {
      const { code, message } = problemFor(error)
      if (this.state.get().cutUntil === undefined && code !== REPLACED)
        this.#say('page', `cannot read: ${message}`, 'bad')
    }
    // One that was under way when other code began to play must not go on beside this one.
    clearTimeout(this.#timer)
    // A database that is busy has better things to do than to be looked at.
    const restMs = Math.max(EVERY_MS, performance.now() - since)
    this.#timer = setTimeout(() => void this.#read(), restMs)
  }

  async #readOnce(): Promise<void> {
    const { selected } = this.state.get()
    const runs = await this.ask<readonly ListedRun[]>({ do: 'runs', limit: RUNS_SHOWN })
    const [balance] = await this.sql<Balance>(BALANCE)
    const ledger = await this.sql<Entry>(NEWEST_ENTRIES)
    this.#set({ runs, ledger, balance, services: await this.sql<Service>(SERVICES) })
    if (selected === undefined) return
    const look = await this.ask<Look | undefined>({ do: 'look', id: selected })
    const rows = await this.sql<Row>(ROWS, [selected])
    if (this.state.get().selected === selected) this.#set({ look, rows })
  }

  #told(told: Told): void {
    switch (told.of) {
      case 'database':
        if (told.message.type === 'progress') this.#set({ progress: told.message })
        if (told.message.type === 'opened') this.#sayOpened(told.message)
        if (told.message.type === 'statement') this.#set({ statement: told.message.statement })
        if (told.message.type === 'client_gone' && told.message.rolledBack)
          this.#say('database', `rolls back what ${told.message.name} had begun`, 'plain')
        return
      case 'crash':
        this.#worker(told.worker, { state: 'crashed' })
        this.#say(told.worker, 'is gone: its thread was ended', 'bad')
        return
      case 'worker':
        this.#ofWorker(told.worker, told.message)
    }
  }

  #sayOpened({ continued, isKept }: FromDatabase & { readonly type: 'opened' }): void {
    if (continued) this.#say('database', 'continues where this page left off', 'good')
    if (!isKept) this.#say('database', 'is in memory only: it ends with this page', 'plain')
  }

  #ofWorker(name: string, message: FromEngine): void {
    if (message.type !== 'event') return
    const said = sentenceOf(message)
    if (said !== undefined) this.#say(name, said.text, said.looks)
    const { event } = message
    const { names } = this.state.get()
    if ('workerId' in event && !(event.workerId in names))
      this.#set({ names: { ...names, [event.workerId]: name } })
    if (!('step' in event && 'runId' in event && 'direction' in event)) return
    const held: Held = {
      ...{ runId: event.runId as string, step: event.step as string },
      direction: event.direction === 'forward' ? 'forward' : 'undo',
    }
    const isOther = (one: Held) => one.runId !== held.runId || one.step !== held.step
    const begins = message.name === 'step.started'
    // Whoever begins a step has taken it from all others, of which one may be gone.
    const workers = this.state.get().workers.map((worker) => {
      if (!begins && worker.name !== name) return worker
      const others = worker.steps.filter(isOther)
      return { ...worker, steps: begins && worker.name === name ? [...others, held] : others }
    })
    this.#set({ workers })
  }

  /** Changes a worker, if it is in the state `from`. */
  #worker(name: string, change: Partial<WorkerState>, from?: WorkerState['state']): void {
    const workers = this.state.get().workers.map((worker) => {
      if (worker.name !== name || (from !== undefined && worker.state !== from)) return worker
      const since = change.state === undefined ? worker.since : Date.now()
      return { ...worker, ...change, since }
    })
    this.#set({ workers })
  }

  #say(who: string, text: string, looks: Line['looks']): void {
    const line = { at: Date.now(), who, text, looks }
    this.#set({ story: [...this.state.get().story, line].slice(-STORY_MAX) })
  }

  #set(change: Partial<State>): void {
    this.state.set({ ...this.state.get(), ...change })
  }
}

const ROWS = `
select o.name as step, o.status, s.fence, o.attempt as attempts, coalesce(o.worker, '') as worker
from belay.workflow_step_overview o join belay.workflow_steps s on s.run_id = o.run_id and s.step = o.step
where o.run_id = $1 order by o.step limit 60`

function problemFor(error: unknown): Problem {
  const { name, message, code, line } = Object(error) as Problem
  return { name: name ?? 'Error', message: message ?? String(error), code, line }
}
