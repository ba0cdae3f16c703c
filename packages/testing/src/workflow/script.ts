import { type Handler, PermanentError, type StepContext } from '@belay/workflow'
import { realMs } from '../clock/turn.ts'

/** What a handler or a compensation did, once or several times. */
export interface HandlerCall {
  /** The step's name; of an item or a round, with its key, like `pack[2]`; of a child's step, after the child's workflow, like `ship/pack`. */
  readonly step: string
  readonly direction: 'forward' | 'undo'
  readonly attempt: number
  /** In virtual time. */
  readonly at: Date
  /** `crashed`: its worker died in it. `after`: it had returned before. */
  readonly outcome: 'running' | 'returned' | 'threw' | 'crashed'
  /** Whether the handler itself returned: its effect is there, whatever became of the attempt. */
  readonly tookEffect: boolean
}

/** What shall happen in a handler instead of, or after, its own work. */
export interface Intervention {
  readonly step: string
  readonly direction: 'forward' | 'undo'
  readonly kind: 'fail' | 'crash'
  readonly at: 'before' | 'after'
  readonly error?: unknown
  /** How many more times. */
  times: number
}

/** A handler as a worker is about to call it. */
export interface ScriptedCall {
  /** The names under which it can be meant: its own and, of an item or a round, that of its map or loop. */
  readonly names: readonly [own: string, ...others: string[]]
  readonly direction: 'forward' | 'undo'
  /** False for checks and decisions: polls, choices, the items of a map, the input of a child. */
  readonly isEffect: boolean
  /** Null in a process that only starts runs. */
  readonly handler: Handler | null
  readonly context: StepContext
  readonly worker: { readonly isDead: boolean; crash(): void }
}

type Entry = { -readonly [Key in keyof HandlerCall]: HandlerCall[Key] } & { readonly isEffect: boolean }

/** What a test lays down for the handlers of a workflow, and what they did. */
export class Script {
  readonly #now: () => number
  readonly #interventions: Intervention[] = []
  readonly #stubs = new Map<string, Handler>()
  readonly #calls: Entry[] = []
  /** Handlers that run, with the real time at which each began. */
  readonly #running = new Map<Entry, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  get calls(): readonly HandlerCall[] {
    return this.#calls.filter(({ isEffect }) => isEffect).map(({ isEffect: _, ...call }) => call)
  }

  /** Names in the order in which their handlers returned; of a compensation after `undo `. */
  get effects(): readonly string[] {
    return this.#effects.map(({ step, direction }) => (direction === 'undo' ? `undo ${step}` : step))
  }

  readonly #effects: Entry[] = []

  /** For how long the newest of the handlers that run has been running, in real milliseconds; undefined if none runs. */
  get runningForMs(): number | undefined {
    if (this.#running.size === 0) return undefined
    return realMs() - Math.max(...this.#running.values())
  }

  stub(step: string, direction: 'forward' | 'undo', handler: Handler): void {
    this.#stubs.set(`${direction} ${step}`, handler)
  }

  intervene(intervention: Intervention): void {
    this.#interventions.push(intervention)
  }

  /** What an engine calls instead of a handler. */
  perform(call: ScriptedCall): unknown {
    const { names, direction, isEffect, context, worker } = call
    const entry: Entry = {
      ...{ step: names[0], direction, attempt: context.attempt, at: new Date(this.#now()) },
      ...{ outcome: 'running', tookEffect: false, isEffect },
    }
    this.#calls.push(entry)
    const planned = this.#take(call)
    if (planned?.at === 'before') return this.#interrupt(entry, planned, worker)
    const done = this.#invoke(entry, this.#handlerOf(call), call)
    if (planned === undefined) return done
    return Promise.resolve(done).then(() => this.#interrupt(entry, planned, worker))
  }

  #handlerOf({ names, direction, handler }: ScriptedCall): Handler {
    const stub = names.map((name) => this.#stubs.get(`${direction} ${name}`)).find((one) => one !== undefined)
    return stub ?? handler ?? (() => Promise.reject(noHandler(names[0])))
  }

  #take({ names, direction }: ScriptedCall): Intervention | undefined {
    const planned = this.#interventions.find(
      (one) => one.times > 0 && one.direction === direction && names.includes(one.step),
    )
    if (planned !== undefined) planned.times -= 1
    return planned
  }

  #interrupt(entry: Entry, { kind, error }: Intervention, worker: ScriptedCall['worker']): Promise<never> {
    if (kind === 'fail') {
      entry.outcome = 'threw'
      return Promise.reject(error)
    }
    entry.outcome = 'crashed'
    worker.crash()
    return new Promise<never>(() => {})
  }

  #invoke(entry: Entry, handler: Handler, { context, worker }: ScriptedCall): unknown {
    try {
      const returned = handler(context)
      if (!isThenable(returned)) return this.#returned(entry, returned)
      this.#running.set(entry, realMs())
      return returned.then(
        (value) => (worker.isDead ? this.#never(entry) : this.#returned(entry, value)),
        (error: unknown) => (worker.isDead ? this.#never(entry) : this.#threw(entry, error)),
      )
    } catch (error) {
      return this.#threw(entry, error)
    }
  }

  /** Its worker died while it ran: in a real process, it would have stopped there. */
  #never(entry: Entry): Promise<never> {
    this.#running.delete(entry)
    entry.outcome = 'crashed'
    return new Promise<never>(() => {})
  }

  #returned<Value>(entry: Entry, value: Value): Value {
    this.#running.delete(entry)
    entry.outcome = 'returned'
    entry.tookEffect = true
    if (entry.isEffect) this.#effects.push(entry)
    return value
  }

  #threw(entry: Entry, error: unknown): never {
    this.#running.delete(entry)
    entry.outcome = 'threw'
    throw error
  }
}

function noHandler(step: string): PermanentError {
  return new PermanentError(
    `Step "${step}" has no handler: its definition was made without one. Give it one with stub('${step}', …).`,
  )
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function'
}
