import { createEngine, type Engine, type EngineOptions, type RunSnapshot } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { onTestFinished } from 'vitest'
import { memory, VirtualClock } from '../../src/index.ts'

/** A clock that can be stopped: an engine on it is a process that hangs. Handlers' own timers continue. */
export class StoppableClock {
  readonly #clock: VirtualClock
  #stopped = false
  constructor(clock: VirtualClock) {
    this.#clock = clock
  }
  now(): number {
    return this.#clock.now()
  }
  after(delayMs: number, fire: () => void): { cancel(): void } {
    return this.#clock.after(delayMs, () => {
      if (!this.#stopped) fire()
    })
  }
  stop(): void {
    this.#stopped = true
  }
}

/** Engines that share one store and one virtual time. */
export function engines() {
  const clock = new VirtualClock()
  const adapter = memory({ clock })
  const sleep = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))
  const engine = (options: Partial<EngineOptions> = {}): Engine => {
    const made = createEngine({ adapter, random: () => 0.5, logger: false, ...options })
    // An engine with its own clock is a process that hangs: it never stops.
    if (options.clock !== undefined) return made
    onTestFinished(async () => {
      await clock.runUntil(made.stop({ timeout: 0 }), { limit: '1h' })
    })
    return made
  }
  /** A started engine. */
  const worker = async (options: Partial<EngineOptions>): Promise<Engine> => {
    const made = engine(options)
    await made.start()
    return made
  }
  return { clock, adapter, sleep, engine, worker }
}

/** Step statuses by name. */
export function statuses(run: RunSnapshot | undefined): Record<string, string> {
  return Object.fromEntries((run?.steps ?? []).map((step) => [step.name, step.status]))
}

/** A promise that `open` resolves. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = () => {}
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

/** A store with some verbs replaced. */
export function changed(store: Adapter, verbs: Partial<Adapter>): Adapter {
  return {
    ...store,
    onWake: (listener) => store.onWake(listener),
    wake: () => store.wake(),
    close: () => store.close(),
    ...verbs,
  }
}
