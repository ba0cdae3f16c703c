import { createEngine } from '@belay/workflow'
import type { Outcome, Part } from './part.ts'
import { Player } from './player.ts'
import type { Stage } from './stage.ts'

const STOP_TIMEOUT = '5s'

/** Shows parts one after the other, on one engine. Returns whether they kept every promise. Closes the adapter. */
export async function perform(stage: Stage, parts: readonly Part[]): Promise<boolean> {
  const { adapter, screen, interrupted } = stage
  interrupted.throwIfAborted()
  const engine = createEngine({
    adapter,
    workflows: parts.map(({ workflow }) => workflow),
    // Fewer than an import has chunks, so that a failure meets chunks of all kinds: loaded, loading and not yet begun.
    concurrency: 4,
    // How soon another process takes over the steps of a killed one, if they share a database.
    lease: '5s',
  })
  interrupted.addEventListener('abort', () => void engine.close({ timeout: STOP_TIMEOUT }))
  try {
    const player = new Player(engine, screen)
    const outcomes: Outcome[] = []
    for (const part of parts) outcomes.push(await part.show({ engine, player }))
    // All together, at the very end: if this start is killed earlier, the next one still finds what all parts have shown.
    for (const outcome of outcomes) await outcome.finish()
    return outcomes.every(({ kept }) => kept)
  } finally {
    await engine.close({ timeout: STOP_TIMEOUT })
  }
}
