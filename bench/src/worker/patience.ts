import { setTimeout as delay } from 'node:timers/promises'
import { define, type Engine, unchecked } from '@belay/workflow'

/** Runs that wait: half of them for a time that does not come, half for a signal that may. */
export const sleeper = define('sleeper', { version: 1 }).sleep('night', { for: '30d' })
const listener = define('listener', { version: 1 }).waitForSignal('call', {
  schema: unchecked<number>(),
})
const alarm = define('alarm', { version: 1, input: unchecked<{ readonly at: number }>() }).sleep('nap', {
  until: ({ input }) => new Date(input.at),
})

export const PATIENT = [sleeper, listener, alarm]

const BULK = 10_000
const LOOK_MS = 100
const NAP_MS = 300

export interface WakeLatencies {
  /** From the planned end of a sleep until the commit of its run's completion. */
  readonly timerMs: readonly number[]
  /** From the call of `signal()` until the commit of the run's completion. */
  readonly signalMs: readonly number[]
}

/** Starts runs that wait. Resolves once all of them wait. */
export async function putToSleep(engine: Engine, count: number): Promise<null> {
  let waiting = 0
  const off = engine.on('step.waiting', () => {
    waiting += 1
  })
  await engine.start()
  for (const workflow of [sleeper, listener]) {
    for (let started = 0; started < count / 2; started += BULK) {
      const size = Math.min(BULK, count / 2 - started)
      await engine.runMany(
        workflow,
        Array.from({ length: size }, (_, n) => ({ key: String(started + n) })),
      )
    }
  }
  while (waiting < count) await delay(LOOK_MS)
  off()
  return null
}

/** Wakes single runs among all waiting ones, one after another: by a timer, and by a signal. */
export async function measureWakes(
  engine: Engine,
  { times, from }: { times: number; from: number },
): Promise<WakeLatencies> {
  const timerMs: number[] = []
  const signalMs: number[] = []
  for (let n = 0; n < times; n += 1) {
    timerMs.push(await wakeByTimer(engine))
    signalMs.push(await wakeBySignal(engine, String(from + n)))
    await delay(Math.random() * 50)
  }
  return { timerMs, signalMs }
}

async function wakeByTimer(engine: Engine): Promise<number> {
  // The store's clock is this machine's.
  const at = Date.now() + NAP_MS
  const ended = nextEnd(engine)
  await engine.run(alarm, { at })
  await ended
  return Math.max(0, Date.now() - at)
}

async function wakeBySignal(engine: Engine, key: string): Promise<number> {
  const since = performance.now()
  const ended = nextEnd(engine)
  await engine.signal({ workflow: listener, key }, 'call', 1)
  await ended
  return performance.now() - since
}

function nextEnd(engine: Engine): Promise<void> {
  return new Promise((resolve) => {
    const off = engine.on('run.completed', () => {
      off()
      resolve()
    })
  })
}
