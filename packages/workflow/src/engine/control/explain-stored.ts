import { type Adapter, isTerminal, type RunRecord } from '../../adapter/index.ts'
import { callback, type OptionTable, wholeNumber } from '../../options/index.ts'
import { runsChild } from '../base/child-steps.ts'
import { explainRun } from '../diagnosis/explain/explain.ts'
import type { Explanation } from '../diagnosis/explain/explanation.ts'
import { countLeftOut } from '../diagnosis/explain/items-left-out.ts'
import { type Quote, quoteInFull } from '../diagnosis/quote.ts'
import { retriesOf } from '../diagnosis/retries.ts'
import { collectedOf } from '../runs/collected-calls.ts'
import { unknownRun } from '../runs/run-reference.ts'
import { newestChildren } from './family.ts'

export const EXPLAIN_OPTIONS = {
  itemsMax: {
    sets: 'how many items of each map and status are named',
    takes: wholeNumber(1, 10_000),
    default: 100,
  },
  quote: {
    sets: 'how sentences tell errors and notes',
    takes: callback<Quote>(),
    default: quoteInFull,
  },
} satisfies OptionTable

interface Checked {
  readonly itemsMax: number
  readonly quote: Quote
}

/** Explains what a stored run waits for. Reads no more items than it names; the others are counted. Throws `unknown_run`. */
export async function explainStored(adapter: Adapter, runId: string, options: Checked): Promise<Explanation> {
  const found = await adapter.readRun(runId, { eachStatusMax: options.itemsMax })
  if (found === null) throw unknownRun({ runId })
  const [[definition], workers, now] = await Promise.all([
    adapter.readDefinitions([found.run.definitionId]),
    adapter.listWorkers(),
    adapter.now(),
  ])
  const { shape } = definition!
  const children = shape.steps.some(runsChild) ? await newestChildren(adapter, runId) : []
  const hasEnded = shape.endSteps === true && isTerminal(found.run.status)
  const followUp = hasEnded ? await explainFollowUp(adapter, found.run, options) : undefined
  const collected = shape.collects === undefined ? null : await collectedOf(adapter, found.run)
  const mayWait = found.steps.some(({ status }) => status === 'ready')
  const limits = mayWait ? await waitsOf(adapter, runId) : {}
  const retries = isTerminal(found.run.status) ? await retriesOf(adapter, [runId]) : []
  const leftOut = countLeftOut(shape, found.steps, found.itemCounts ?? [])
  return explainRun({
    ...found,
    ...limits,
    leftOut,
    shape,
    children,
    followUp,
    collected,
    retries,
    workers,
    quote: options.quote,
    now,
  })
}

async function waitsOf(adapter: Adapter, runId: string) {
  const limitWaits = await adapter.readLimitWaits(runId)
  const limitCircles = limitWaits.length > 0 ? await adapter.readLimitCircles({ runId }) : []
  return { limitWaits, limitCircles }
}

/** Explains the run in which the end steps of this ended run go on. Undefined if it was not started yet. */
async function explainFollowUp(
  adapter: Adapter,
  run: RunRecord,
  options: Checked,
): Promise<Explanation | undefined> {
  const newest = await adapter.listRuns({ parentId: run.runId, limit: NEWEST })
  const found = newest.find((child) => isFollowUp(child, run))
  return found === undefined ? undefined : explainStored(adapter, found.runId, options)
}

/** Its children were started before it ended. Runs are listed by the clocks of those who started them, which may differ a little. */
const NEWEST = 100

/** Whether a run was started for the newest end of another. One that was sent forward again may have others, of its earlier ends. */
function isFollowUp({ parent, createdAt }: RunRecord, { finishedAt }: RunRecord): boolean {
  return parent?.step === null && finishedAt !== null && createdAt >= finishedAt
}
