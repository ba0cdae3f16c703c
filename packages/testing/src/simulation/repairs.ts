import { BelayError } from '@belay/workflow'
import type { StepRecord } from '@belay/workflow/adapter'
import type { Operation } from './operator.ts'
import { STAND_IN } from './plan.ts'

/**
 * Lets a run go on in which a step failed after a pivot. A wait would fail again without its signal, and a map with as few items as before: these are
 * skipped, unless the run goes on past them.
 */
export async function unpark(
  { engine }: Parameters<Operation['act']>[0],
  steps: readonly StepRecord[],
  runId: string,
): Promise<void> {
  const handle = engine.runs.handle(runId)
  const isMap = (name: string) => steps.some((step) => step.name === `${name}[]`)
  const stuck = steps.filter(
    ({ status, waitingSince, name }) => status === 'failed' && (waitingSince !== null || isMap(name)),
  )
  for (const { name } of stuck) {
    const skipped = await handle.skipStep(name, { output: STAND_IN }).then(() => true, isRefused)
    if (skipped) return
  }
  await handle.retry()
}

/** Lets a run end whose compensation failed. */
export async function retryUndo(
  { engine }: Parameters<Operation['act']>[0],
  steps: readonly StepRecord[],
  runId: string,
): Promise<void> {
  for (const { name } of steps.filter(({ status }) => status === 'compensation_failed'))
    await engine.runs.handle(runId).retryCompensation(name)
}

/** False for a refusal. Throws any other error. */
function isRefused(error: unknown): false {
  if (!BelayError.is(error) || error.code !== 'action_refused') throw error
  return false
}
