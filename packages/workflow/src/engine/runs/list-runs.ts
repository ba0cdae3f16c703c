import type { Adapter, RefusedRow, RunFilter } from '../../adapter/index.ts'
import type { SetAside } from '../base/set-aside.ts'
import { type RunSummary, runSummary } from './run-snapshot.ts'

const LISTING = 'listing runs'

/** One page of runs. A run that cannot be read is left out and named; older runs take its place, so that only the last page is short. */
export async function listPage(
  { adapter, aside }: { readonly adapter: Adapter; readonly aside: SetAside },
  filter: RunFilter,
): Promise<readonly RunSummary[]> {
  const page: RunSummary[] = []
  let { before } = filter
  for (;;) {
    const leftOut: string[] = []
    const leaveOut = (runId: string, error: unknown) => {
      leftOut.push(runId)
      aside.refused({ during: LISTING, runId }, error)
    }
    const limit = filter.limit - page.length
    const onRefused = ({ runId, error }: RefusedRow) => leaveOut(runId, error)
    const found = await adapter.listRuns({ ...filter, before, limit, onRefused })
    const looked = found.length + leftOut.length
    for (const run of found) {
      try {
        page.push(runSummary(run))
      } catch (error) {
        leaveOut(run.runId, error)
      }
    }
    aside.acceptedRuns(
      LISTING,
      found.filter(({ runId }) => !leftOut.includes(runId)),
    )
    if (leftOut.length === 0 || looked < limit) return page
    before = [...found.map(({ runId }) => runId), ...leftOut].sort()[0]
  }
}
