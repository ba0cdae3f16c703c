import type { DatedRun, RefusedRow, RunFilter } from '../../adapter/index.ts'
import type { SetAside } from '../base/set-aside.ts'
import type { RunReading } from './read-run.ts'
import { type RunSummary, runSummary } from './run-snapshot.ts'
import { type RunWithSteps, statesOf } from './step-states.ts'

const LISTING = 'listing runs'

/**
 * One page of runs, newest first. A run that cannot be read is left out and named; the next ones take its place, so that only the last page is short.
 */
export async function listPage(
  { adapter, registry, aside }: RunReading & { readonly aside: SetAside },
  filter: RunFilter,
): Promise<readonly (RunSummary | RunWithSteps)[]> {
  const goesBack = filter.after !== undefined
  const page: RunSummary[] = []
  let from: Pick<RunFilter, 'before' | 'after'> = filter
  for (;;) {
    const leftOut: string[] = []
    const leaveOut = (runId: string, error: unknown) => {
      leftOut.push(runId)
      aside.refused({ during: LISTING, runId }, error)
    }
    const limit = filter.limit - page.length
    const onRefused = ({ runId, error }: RefusedRow) => leaveOut(runId, error)
    const found = await adapter.listRuns({ ...filter, ...from, limit, onRefused })
    const looked = found.length + leftOut.length
    const read: RunSummary[] = []
    for (const run of found) {
      try {
        read.push(await summaryOf(registry, run))
      } catch (error) {
        leaveOut(run.runId, error)
      }
    }
    page.splice(goesBack ? 0 : page.length, 0, ...read)
    aside.acceptedRuns(
      LISTING,
      found.filter(({ runId }) => !leftOut.includes(runId)),
    )
    if (leftOut.length === 0 || looked < limit) return page
    const ids = [...found.map(({ runId }) => runId), ...leftOut].sort()
    from = goesBack ? { after: ids.at(-1) } : { before: ids[0] }
  }
}

async function summaryOf(
  registry: RunReading['registry'],
  run: DatedRun,
): Promise<RunSummary | RunWithSteps> {
  const { states } = run
  if (states === undefined) return runSummary(run)
  return { ...runSummary(run), steps: statesOf(states, await registry.marked(run.definitionId)) }
}
