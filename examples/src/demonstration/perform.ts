import { createEngine } from '@belay/workflow'
import type { Outcome, Part } from './part.ts'
import { Player } from './player.ts'
import type { Stage } from './stage.ts'

const STOP_TIMEOUT = '5s'

/** Shows parts one after the other, on one engine. Tells whether they kept all their promises. Closes the adapter. */
export async function perform(stage: Stage, parts: readonly Part[]): Promise<boolean> {
  const { adapter, screen, interrupted } = stage
  interrupted.throwIfAborted()
  const engine = createEngine({
    adapter,
    workflows: parts.map(({ workflow }) => workflow),
    // Fewer than an import has chunks, so that its failure meets all kinds: loaded, loading and not yet begun.
    concurrency: 4,
    // Where processes share a database, the steps of one that was killed are taken up this soon.
    lease: '5s',
  })
  interrupted.addEventListener('abort', () => void engine.close({ timeout: STOP_TIMEOUT }))
  try {
    const player = new Player(engine, screen)
    const outcomes: Outcome[] = []
    for (const part of parts) outcomes.push(await part.show({ engine, player }))
    // Together, at the very end: a start that is killed before finds what all parts have shown.
    for (const outcome of outcomes) await outcome.finish()
    return outcomes.every(({ kept }) => kept)
  } finally {
    await engine.close({ timeout: STOP_TIMEOUT })
  }
}
