import { type Adapter, isTerminal, type RunRecord } from '../../adapter/index.ts'
import { runsChild } from '../base/child-steps.ts'
import { explainRun } from '../diagnosis/explain/explain.ts'
import type { Explanation } from '../diagnosis/explain/explanation.ts'
import { collectedOf } from '../runs/collected-calls.ts'
import { type RunReading, readWholeRun } from '../runs/read-run.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { openChildren } from './family.ts'

/** Explains what a stored run waits for. Throws `unknown_run`. */
export async function explainStored(reading: RunReading, runId: string): Promise<Explanation> {
  const { adapter } = reading
  const found = await readWholeRun(reading, runId, { outputs: false })
  if (found === null) throw unknownRun({ runId })
  const [[definition], workers, now] = await Promise.all([
    adapter.readDefinitions([found.run.definitionId]),
    adapter.listWorkers(),
    adapter.now(),
  ])
  const { shape } = definition!
  const children = shape.steps.some(runsChild) ? await openChildren(adapter, runId) : []
  const hasEnded = shape.endSteps === true && isTerminal(found.run.status)
  const followUp = hasEnded ? await explainFollowUp(reading, found.run) : undefined
  const collected = shape.collects === undefined ? null : await collectedOf(adapter, found.run)
  const mayWait = found.steps.some(({ status }) => status === 'ready')
  const limits = mayWait ? await waitsOf(adapter, runId) : {}
  return explainRun({ ...found, ...limits, shape, children, followUp, collected, workers, now })
}

async function waitsOf(adapter: Adapter, runId: string) {
  const limitWaits = await adapter.readLimitWaits(runId)
  const limitCircles = limitWaits.length > 0 ? await adapter.readLimitCircles({ runId }) : []
  return { limitWaits, limitCircles }
}

/** Explains the run in which the end steps of this ended run go on. Undefined if it was not started yet. */
async function explainFollowUp(reading: RunReading, run: RunRecord): Promise<Explanation | undefined> {
  const newest = await reading.adapter.listRuns({ parentId: run.runId, limit: NEWEST })
  const found = newest.find((child) => isFollowUp(child, run))
  return found === undefined ? undefined : explainStored(reading, found.runId)
}

/** Its children were started before it ended. Runs are listed by the clocks of those who started them, which may differ a little. */
const NEWEST = 100

/** Whether a run was started for the newest end of another. One that was sent forward again may have others, of its earlier ends. */
function isFollowUp({ parent, createdAt }: RunRecord, { finishedAt }: RunRecord): boolean {
  return parent?.step === null && finishedAt !== null && createdAt >= finishedAt
}
