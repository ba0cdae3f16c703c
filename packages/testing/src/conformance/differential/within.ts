import { createEngine } from '@belay/workflow'
import { type Adapter, BelayError, type CallerTransaction } from '@belay/workflow/adapter'
import { GRAPHS } from './graphs.ts'
import { withoutId } from './look.ts'

/** Saves existing definitions in a transaction, and returns how it finds them. */
export async function definitionsWithin(adapter: Adapter, tx: CallerTransaction): Promise<unknown> {
  const saved = await adapter.saveDefinitions(GRAPHS, { tx })
  const ids = saved.map(({ id }) => id)
  const read = await adapter.readDefinitions(ids, { tx })
  const newest = await adapter.findDefinition({ name: 'loose' }, { tx })
  return { read: read.map(withoutId), newest: withoutId(newest) }
}

/** Looks a run up in a transaction and, if it exists, pauses and resumes it. The steps that were ready continue as before. */
export async function pausedAndResumed(
  adapter: Adapter,
  runId: string,
  tx: CallerTransaction,
): Promise<unknown> {
  const run = await adapter.findRun({ runId }, { tx })
  if (run === null) return { found: null }
  // A store need not know the deadline of a run that the open transaction starts.
  const { deadlineAt: _, ...found } = run
  const handle = createEngine({ adapter, logger: false }).runs.handle(runId)
  // A run that may have children is refused, with nothing written.
  const answered = async (act: () => Promise<unknown>) =>
    act().catch((error: unknown) => {
      if (BelayError.is(error) && error.code === 'action_refused') return { refused: error.message }
      throw error
    })
  return {
    found,
    paused: await answered(() => handle.pause({ tx })),
    resumed: await answered(() => handle.resume({ tx })),
  }
}
