import { createEngine, type Engine, type EngineOptions } from '@belay/workflow'
import { pglite } from '@belay/workflow-postgres/pglite'
import { load } from '../code/load.ts'
import { databaseOver, holdLock } from '../database/client.ts'
import type { FromEngine, Opening } from '../messages.ts'
import { problemOf } from '../messages.ts'
import { type Play, playIn } from '../play.ts'

const LEASE_MS = 3_000

export const tell = (message: FromEngine) => postMessage(message)

/** An engine on the database in the other thread, with the reader's code. Throws what is wrong in the code. */
export async function openEngine(
  { name, lock, database: port, code, slowness }: Opening,
  options: Partial<EngineOptions> = {},
): Promise<{ readonly engine: Engine; readonly play: Play }> {
  await holdLock(lock)
  const database = databaseOver(port)
  playIn({ database, worker: name, slowness })
  const play = await load(code)
  const engine = createEngine({
    adapter: pglite(database, { autoMigrate: false }),
    workflows: play.workflows,
    schedules: play.schedules ?? [],
    ...{ name, lease: LEASE_MS, attempts: 'keep', logger: false },
    // Code that was edited has a shape of its own, and so a version.
    dev: true,
    ...options,
  })
  return { engine, play }
}

/** What it throws goes to the page: nobody else sees it. */
export function orTell(work: Promise<void>): void {
  work.catch((error: unknown) => tell({ type: 'failed', problem: problemOf(error) }))
}
