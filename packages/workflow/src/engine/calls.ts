import type { DefinitionRegistry } from './base/definition-registry.ts'
import type { EventHub } from './base/events.ts'
import { OutageWatch } from './base/outage.ts'
import { within } from './base/runtime.ts'
import type { EngineSettings } from './options.ts'
import { RunObserver } from './runs/run-observer.ts'
import { RunWatch } from './runs/run-watch.ts'
import { callCollector } from './start/collect-run.ts'
import { RunStarter } from './start/run-starter.ts'
import type { Working } from './working.ts'

/** How long closing waits for a running query of awaited runs. */
const CLOSE_MS = 1_000

interface CallsParts {
  readonly settings: EngineSettings
  readonly events: EventHub
  readonly registry: DefinitionRegistry
  readonly working: Working
}

/** What serves the calls of this process, with or without a worker: each starts, awaits or watches many runs in one call to the store, and waits out its outages. */
export function openCalls({ settings, events, registry, working }: CallsParts) {
  const { adapter, log, runtime, tickMs } = settings
  const outage = (during: string) => new OutageWatch({ during, log, events, random: runtime.random })
  const { history, lookout } = working
  const reading = { adapter, registry, runtime, tickMs, history, lookout }
  const watch = new RunWatch({ ...reading, events, outage: outage('awaiting runs') })
  const observer = new RunObserver({ ...reading, outage: outage('watching runs') })
  return {
    starter: new RunStarter({
      store: (runs) => working.startRuns(runs),
      runtime,
      outage: outage('starting runs'),
    }),
    collector: callCollector({ ...reading, outage: outage('collecting calls') }),
    watch,
    observer,
    close: () => within(runtime.clock, CLOSE_MS, Promise.all([watch.close(), observer.close()])),
  }
}
