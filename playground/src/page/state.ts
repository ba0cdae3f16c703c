import type { PGliteInterface } from '@electric-sql/pglite'
import { type Cell, cell } from '../../../packages/dashboard/ui/src/stored.ts'
import type { AppCall, FromDatabase, FromEngine, ListedRun, Look, Problem, Statement } from '../messages.ts'
import { type Balance, balanceOf, type Entry, LEDGER } from './balance.ts'
import { keepFiles, missing } from './missing.ts'
import { sentenceOf } from './sentence.ts'
import { Stage, type Told } from './stage.ts'

/** All that the screen shows. */
export interface State {
  readonly phase: 'opening' | 'playing' | 'stopped'
  /** While it opens: how far, 0 to 1, and what it does. */
  readonly progress: { readonly part: number; readonly what: string }
  /** Why it does not play: the database, or the reader's code. */
  readonly problem?: Problem | undefined
  readonly workers: readonly WorkerState[]
  /** The newest first. */
  readonly runs: readonly ListedRun[]
  readonly selected?: string | undefined
  readonly look?: Look | undefined
  /** Of the selected run, as they stand in the database. */
  readonly rows: readonly Row[]
  readonly ledger: readonly Entry[]
  readonly balance?: Balance | undefined
  /** The newest statement that leased steps. */
  readonly statement?: Statement | undefined
  /** What happened, the newest last. */
  readonly story: readonly Line[]
  /** Until when the database is cut off, by the page's clock. */
  readonly cutUntil?: number | undefined
}

export interface WorkerState {
  readonly name: string
  readonly state: 'opening' | 'live' | 'frozen' | 'crashed'
  /** Since when it is in this state, by the page's clock. */
  readonly since: number
  /** The steps that it executes, or executed when it crashed: `order:1 chargeCard`. */
  readonly steps: readonly Held[]
}

export interface Held {
  readonly runId: string
  readonly step: string
  readonly direction: 'forward' | 'undo'
}

export interface Row {
  readonly step: string
  readonly status: string
  readonly fence: number
  readonly attempts: number
  readonly worker: string
}

export interface Line {
  readonly at: number
  readonly who: string
  readonly text: string
  readonly looks: 'plain' | 'good' | 'bad'
}

const NAMES = ['one', 'two', 'three', 'four', 'five', 'six'] as const
const STORY_MAX = 200
const RUNS_SHOWN = 12
const EVERY_MS = 300
const FREEZE_MS = 8_000
const CUT_MS = 5_000

const BEGINNING: State = {
  phase: 'opening',
  progress: { part: 0, what: 'Loading PostgreSQL' },
  ...{ workers: [], runs: [], rows: [], ledger: [], story: [] },
}

/** What the reader does, and what the screen shows of it. */
export class Playground {
  readonly state: Cell<State> = cell(BEGINNING)
  readonly #stage = new Stage((told) => this.#told(told))
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
      this.#set({ phase: 'stopped', problem: problemFor(error) })
      return false
    }
  }

  /** Plays this code with three workers. What is wrong in it is in the state. */
  async play(source: string): Promise<void> {
    clearTimeout(this.#timer)
    this.#set({ phase: 'opening', progress: { part: 0.8, what: 'Starting three workers' }, workers: [] })
    this.#set({ problem: undefined, selected: undefined, look: undefined, rows: [] })
    try {
      await this.#stage.play(source, [])
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
  async start(count: number): Promise<void> {
    const first = this.#number + 1
    this.#number += count
    const [id] = await this.ask<string[]>({ do: 'start', first, count })
    if (id !== undefined) this.select(id)
  }

  select(id: string): void {
    this.#set({ selected: id, look: undefined, rows: [] })
  }

  async addWorker(name = this.#freeName()): Promise<void> {
    if (name === undefined) return
    const others = this.state.get().workers.filter((worker) => worker.name !== name)
    this.#set({ workers: [...others, { name, state: 'opening', since: Date.now(), steps: [] }] })
    await this.#stage.addWorker(name)
    this.#worker(name, { state: 'live' })
  }

  crash(name: string): void {
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

  slow(slowness: number): void {
    this.#stage.slow(slowness)
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
    try {
      if (this.state.get().cutUntil === undefined && !document.hidden) await this.#readOnce()
    } catch (error) {
      if (this.state.get().cutUntil === undefined)
        this.#say('page', `cannot read: ${problemFor(error).message}`, 'bad')
    }
    this.#timer = setTimeout(() => void this.#read(), EVERY_MS)
  }

  async #readOnce(): Promise<void> {
    const { selected } = this.state.get()
    const runs = await this.ask<readonly ListedRun[]>({ do: 'runs', limit: RUNS_SHOWN })
    const ledger = await this.sql<Entry>(LEDGER)
    this.#set({ runs, ledger, balance: balanceOf(ledger) })
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
    if (!('step' in event && 'runId' in event && 'direction' in event)) return
    const held: Held = {
      ...{ runId: event.runId as string, step: event.step as string },
      direction: event.direction === 'forward' ? 'forward' : 'undo',
    }
    const isSame = (one: Held) => one.runId === held.runId && one.step === held.step
    const { workers } = this.state.get()
    const steps = workers.find((worker) => worker.name === name)?.steps ?? []
    const others = steps.filter((one) => !isSame(one))
    this.#worker(name, { steps: message.name === 'step.started' ? [...others, held] : others })
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
