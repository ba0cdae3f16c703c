import type { Engine, EngineEvents, EngineOptions } from '@belay/workflow'
import { type FromEngine, type Opening, type Pace, problemOf, type ToWorker } from '../messages.ts'
import { slowDown } from '../play.ts'
import { open, orTell, tell } from './open.ts'

/** What the page tells of a worker. */
const EVENTS = [
  'worker.started',
  'worker.lost',
  'lease.lost',
  'step.started',
  'step.completed',
  'step.compensated',
  'step.waiting',
  'step.skipped',
  'step.retrying',
  'step.failed',
  'step.compensation_failed',
  'step.discarded',
  'step.recovered',
  'run.compensating',
  'run.ended',
  'store.unavailable',
  'store.recovered',
  'error',
] as const satisfies readonly (keyof EngineEvents)[]

let pace: Pace
let ready = Promise.resolve()
let makeEngine: ((options: Partial<EngineOptions>) => Engine) | undefined
let working: { readonly engine: Engine; readonly slots: number } | undefined

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case 'open':
      pace = data.pace
      ready = begin(data)
      orTell(ready)
      return
    case 'freeze':
      freeze(data.ms)
      return
    case 'pace':
      pace = data.pace
      // One after the other: each ends the engine before it.
      ready = ready.then(keepPace)
      orTell(ready)
  }
})

async function begin(opening: Opening): Promise<void> {
  ;({ makeEngine } = await open(opening))
  await keepPace()
  tell({ type: 'opened' })
}

/** An engine's slots cannot be changed: another engine takes over. */
async function keepPace(): Promise<void> {
  const { slowness, slots } = pace
  slowDown(slowness)
  if (working?.slots === slots) return
  const before = working?.engine
  const engine = makeEngine!({ concurrency: slots })
  working = { engine, slots }
  tellEvents(engine)
  await engine.start()
  await before?.stop()
}

function tellEvents(engine: Engine): void {
  for (const name of EVENTS) {
    engine.on(name, (event) => tell({ type: 'event', name, event: told(event) } as FromEngine))
  }
}

/** What handlers throw may not be cloned into another thread. */
function told<Event extends EngineEvents[keyof EngineEvents]>(event: Event): unknown {
  const errors = Object.entries(event).filter(([name]) => name === 'thrown' || name === 'error')
  return { ...event, ...Object.fromEntries(errors.map(([name, error]) => [name, problemOf(error)])) }
}

/** A thread cannot be stopped from outside, so it stops itself. */
function freeze(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
