import type { Engine, EngineEvents } from '@belay/workflow'
import { type FromEngine, type Opening, problemOf, type ToWorker } from '../messages.ts'
import { slowDown } from '../play.ts'
import { openEngine, orTell, tell } from './open.ts'

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

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case 'open':
      orTell(open(data))
      return
    case 'freeze':
      freeze(data.ms)
      return
    case 'slowness':
      slowDown(data.slowness)
  }
})

async function open(opening: Opening): Promise<void> {
  const { engine } = await openEngine(opening, { concurrency: 4 })
  tellEvents(engine)
  await engine.start()
  tell({ type: 'opened' })
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
