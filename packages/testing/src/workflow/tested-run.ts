import {
  createEngine,
  durationMs,
  type Engine,
  type Explanation,
  PermanentError,
  type RunHandle,
  type RunSnapshot,
  type WorkflowDefinition,
} from '@belay/workflow'
import type { Duration } from '@belay/workflow/adapter'
import { VirtualClock } from '../clock/virtual-clock.ts'
import { type MemoryAdapter, memory } from '../memory/adapter.ts'
import { moveTime } from './move-time.ts'
import { type HandlerCall, Script } from './script.ts'
import { checkStep } from './step-check.ts'
import { checkTested } from './test-kinds.ts'
import {
  type CheckedTestOptions,
  checkCrash,
  checkFail,
  checkLimit,
  checkTestOptions,
  type LimitOptions,
} from './test-options.ts'
import { TestWorker } from './test-worker.ts'
import type { CrashOptions, FailOptions, Stub } from './tested-steps.ts'

/** How long nothing must happen, in real time, before nothing will: a condition may read a file. */
const STUCK_MS = 30

interface Failing {
  readonly call: string
  readonly step: string
  readonly direction: 'forward' | 'undo'
  readonly error: unknown
  readonly options: FailOptions
}

interface Crashing extends Omit<Failing, 'error' | 'options'> {
  readonly options: CrashOptions
}

/** One run under test. `testWorkflow()` gives it types. */
export class TestedRun {
  readonly clock: VirtualClock
  readonly adapter: MemoryAdapter
  readonly #definition: WorkflowDefinition
  readonly #options: CheckedTestOptions
  readonly #script: Script
  readonly #client: Engine
  #worker: TestWorker
  #working: Promise<void> | undefined
  #handle: Promise<RunHandle> | undefined

  constructor(definition: WorkflowDefinition, options: unknown) {
    this.#definition = checkTested('testWorkflow()', definition)
    this.#options = checkTestOptions(options)
    this.clock = new VirtualClock(this.#options.now)
    this.adapter = memory({ clock: this.clock })
    this.#script = new Script(() => this.clock.now())
    this.#client = createEngine({ logger: false, ...this.#options.engine, adapter: this.adapter })
    this.#worker = this.#newWorker()
  }

  get effects(): readonly string[] {
    return this.#script.effects
  }

  get calls(): readonly HandlerCall[] {
    return this.#script.calls
  }

  async start(): Promise<RunHandle> {
    this.#handle ??= this.#start()
    const handle = await this.#handle
    await this.clock.advance(0)
    return handle
  }

  async run(options: LimitOptions = {}): Promise<unknown> {
    const limitMs = checkLimit('run()', options)
    await this.#toEnd(limitMs)
    const result = (await this.start()).result()
    return this.clock.runUntil(result, { limit: 0 })
  }

  async end(options: LimitOptions = {}): Promise<RunSnapshot> {
    await this.#toEnd(checkLimit('end()', options))
    return this.status()
  }

  async advance(duration: Duration): Promise<void> {
    const handle = await this.start()
    return this.#advanceTo(handle, this.clock.now() + durationMs(duration, 'advance(): the duration'))
  }

  async advanceTo(instant: Date): Promise<void> {
    return this.#advanceTo(await this.start(), instant.getTime())
  }

  async status(): Promise<RunSnapshot> {
    return (await this.start()).status()
  }

  async explain(): Promise<Explanation> {
    return (await this.start()).explain()
  }

  signal: RunHandle['signal'] = (...given) => this.#act((handle) => handle.signal(...given))
  approve: RunHandle['approve'] = (...given) => this.#act((handle) => handle.approve(...given))
  reject: RunHandle['reject'] = (...given) => this.#act((handle) => handle.reject(...given))
  cancel: RunHandle['cancel'] = (...given) => this.#act((handle) => handle.cancel(...given))

  stub(step: string, handler: Stub<unknown>): void {
    this.#script.stub(this.#known('stub()', step), 'forward', handler)
  }

  stubUndo(step: string, handler: Stub<unknown>): void {
    this.#script.stub(this.#known('stubUndo()', step), 'undo', handler)
  }

  fail(step: string, error?: unknown, options: FailOptions = {}): void {
    this.#fail({ call: 'fail()', step, direction: 'forward', error, options })
  }

  failUndo(step: string, error?: unknown, options: FailOptions = {}): void {
    this.#fail({ call: 'failUndo()', step, direction: 'undo', error, options })
  }

  crash(step: string, options: CrashOptions = {}): void {
    this.#crash({ call: 'crash()', step, direction: 'forward', options })
  }

  crashUndo(step: string, options: CrashOptions = {}): void {
    this.#crash({ call: 'crashUndo()', step, direction: 'undo', options })
  }

  async close(): Promise<void> {
    await this.#working
    await this.clock.runUntil(this.#worker.engine.close({ timeout: 0 }))
    await this.clock.runUntil(this.#client.close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #known(call: string, step: string): string {
    return checkStep(call, step, this.#definition)
  }

  #fail({ call, step, direction, error, options }: Failing): void {
    this.#known(call, step)
    const { times, after } = checkFail(call, options)
    const message = `${direction === 'undo' ? 'The compensation of step' : 'Step'} "${step}" fails because its test says so.`
    const thrown = error ?? (times === undefined ? new PermanentError(message) : new Error(message))
    this.#script.intervene({
      ...{ step, direction, kind: 'fail', at: after ? 'after' : 'before' },
      ...{ error: thrown, times: times ?? Number.POSITIVE_INFINITY },
    })
  }

  #crash({ call, step, direction, options }: Crashing): void {
    this.#known(call, step)
    const { times, before } = checkCrash(call, options)
    this.#script.intervene({ step, direction, kind: 'crash', at: before ? 'before' : 'after', times })
  }

  async #start(): Promise<RunHandle> {
    this.#working ??= this.#worker.engine.start()
    await this.#working
    const { input, run } = this.#options
    // The handlers of a definition are the worker's: the client only names the workflow.
    return this.#client.run(this.#definition as WorkflowDefinition, input, run) as Promise<RunHandle>
  }

  #newWorker(): TestWorker {
    return new TestWorker({
      home: this.adapter,
      script: this.#script,
      tested: this.#definition,
      others: this.#options.workflows,
      options: this.#options.engine,
      onCrash: () => {
        this.#worker = this.#newWorker()
        this.#working = this.#worker.engine.start()
      },
    })
  }

  async #act<Answer>(action: (handle: RunHandle) => Promise<Answer>): Promise<Answer> {
    const answer = await action(await this.start())
    await this.clock.advance(0)
    return answer
  }

  async #advanceTo(_handle: RunHandle, instant: number): Promise<void> {
    const { clock } = this
    await moveTime({ clock, script: this.#script, isDone: () => false, until: instant, graceMs: 0 })
    await clock.advanceTo(instant)
  }

  async #toEnd(limitMs: number): Promise<void> {
    const handle = await this.start()
    const { clock } = this
    const state = { isOver: false }
    const patience = new AbortController()
    const over = () => {
      state.isOver = true
    }
    handle.result({ signal: patience.signal }).then(over, over)
    const until = clock.now() + limitMs
    const moved = await moveTime({
      clock,
      script: this.#script,
      isDone: () => state.isOver,
      until,
      graceMs: STUCK_MS,
    })
    patience.abort()
    if (moved === 'done') return
    const { status } = await handle.status()
    if (status !== 'parked') throw await this.#unended(handle, moved, limitMs)
  }

  async #unended(handle: RunHandle, moved: 'late' | 'stuck', limitMs: number): Promise<Error> {
    const why =
      moved === 'late'
        ? `did not end within ${limitMs} ms of virtual time. Give more with { limit }, or look at`
        : 'waits for something that no time brings. Send it, with signal() or approve(), or see'
    const { steps } = await handle.explain()
    const sentences = steps.map(({ sentence }) => sentence)
    return new Error(`The run of "${this.#definition.name}" ${why} what it waits for: ${sentences.join(' ')}`)
  }
}
