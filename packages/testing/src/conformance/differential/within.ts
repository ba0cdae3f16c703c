import { createEngine } from '@belay/workflow'
import type { Adapter } from '@belay/workflow/adapter'
import { GRAPHS } from './graphs.ts'
import { withoutId } from './look.ts'

/** Saves the definitions, which are there, in a transaction; answers how it finds them. */
export async function definitionsWithin(adapter: Adapter, tx: unknown): Promise<unknown> {
  const saved = await adapter.saveDefinitions(GRAPHS, { tx })
  const ids = saved.map(({ id }) => id)
  const read = await adapter.readDefinitions(ids, { tx })
  const newest = await adapter.findDefinition({ name: 'loose' }, { tx })
  return { read: read.map(withoutId), newest: withoutId(newest) }
}

/** Looks a run up in a transaction and, if it is there, pauses and resumes it: what it was started with goes on as before. */
export async function pausedAndResumed(adapter: Adapter, runId: string, tx: unknown): Promise<unknown> {
  const found = await adapter.findRun({ runId }, { tx })
  if (found === null) return { found }
  const handle = createEngine({ adapter }).runs.handle(runId)
  return { found, paused: await handle.pause({ tx }), resumed: await handle.resume({ tx }) }
}
