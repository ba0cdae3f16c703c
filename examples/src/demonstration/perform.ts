import { createEngine } from '@belay/workflow'
import type { Outcome, Part } from './part.ts'
import { Player } from './player.ts'
import type { Stage } from './stage.ts'

const STOP_TIMEOUT = '5s'

/** Shows parts one after the other. Returns whether they kept every promise. Closes the adapter. */
export async function perform(stage: Stage, parts: readonly Part[]): Promise<boolean> {
  try {
    const outcomes: Outcome[] = []
    for (const part of parts) outcomes.push(await show(stage, part))
    // All together, at the very end: if this start is killed earlier, the next one still finds what all parts have shown.
    for (const outcome of outcomes) await outcome.finish()
    return outcomes.every(({ kept }) => kept)
  } finally {
    await stage.adapter.close()
  }
}

/** Shows one part, on an engine of its own. */
async function show({ adapter, screen, interrupted }: Stage, part: Part): Promise<Outcome> {
  interrupted.throwIfAborted()
  const engine = createEngine({
    adapter,
    workflows: [part.workflow],
    concurrency: part.concurrency,
    // How soon another process takes over the steps of a killed one, if they share a database.
    lease: '5s',
  })
  const close = () => void engine.close({ timeout: STOP_TIMEOUT })
  interrupted.addEventListener('abort', close)
  try {
    return await part.show({ engine, player: new Player(engine, screen) })
  } finally {
    interrupted.removeEventListener('abort', close)
    // Not closed: that would close the adapter, which the next part needs.
    await engine.stop({ timeout: STOP_TIMEOUT })
  }
}
