import { createEngine, type Engine, type EngineOptions } from '@belay/workflow'
import { pglite } from '@belay/workflow-postgres/pglite'
import { load } from '../code/load.ts'
import { databaseOver, holdLock } from '../database/client.ts'
import type { FromEngine, Opening } from '../messages.ts'
import { problemOf } from '../messages.ts'
import { type Play, playIn } from '../play.ts'

const LEASE_MS = 3_000

export const tell = (message: FromEngine) => postMessage(message)

/** The reader's code, and what makes engines for it on the database in the other thread. Throws what is wrong in the code. */
export async function open({ name, lock, database: port, code, pace }: Opening): Promise<{
  readonly play: Play
  readonly makeEngine: (options?: Partial<EngineOptions>) => Engine
}> {
  await holdLock(lock)
  const database = databaseOver(port)
  playIn({ database, worker: name, slowness: pace.slowness })
  const play = await load(code)
  const makeEngine = (options: Partial<EngineOptions> = {}) =>
    createEngine({
      adapter: pglite(database, { autoMigrate: false }),
      workflows: play.workflows,
      schedules: play.schedules ?? [],
      ...{ name, lease: LEASE_MS, attempts: 'keep', logger: false },
      // Code that was edited has a shape of its own, and so a version.
      dev: true,
      ...options,
    })
  return { play, makeEngine }
}

/** What it throws goes to the page: nobody else sees it. */
export function orTell(work: Promise<void>): void {
  work.catch((error: unknown) => tell({ type: 'failed', problem: problemOf(error) }))
}
