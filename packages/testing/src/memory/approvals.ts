import type { ApprovalRecord, ApprovalsRequest, FoundApprovals } from '@belay/workflow/adapter'
import type { Rows, RunRow } from './rows.ts'
import { goesForward } from './stop.ts'

// Small, so that tests reach the limit.
const LOOKED_AT_MAX = 100

/** One page of the steps that wait for an approval, or for a signal: by run, newest first, then by step. */
export function findApprovals(rows: Rows, request: ApprovalsRequest): FoundApprovals {
  const { after, limit } = request
  const live = [...rows.liveRunsByAge()].reverse()
  const asked = live.filter(
    (run) =>
      goesForward(run) &&
      run.stop === null &&
      (after === null || run.runId <= after.runId) &&
      approvalsOf(run, request).length > 0,
  )
  const part = asked.slice(0, LOOKED_AT_MAX)
  const found = part.flatMap((run) => pendingApprovals(run, request))
  const approvals = found.slice(0, limit)
  const last = approvals.at(-1)
  if (last !== undefined && approvals.length === limit) {
    return { approvals, cursor: { runId: last.runId, step: last.step }, more: true }
  }
  const lastRun = part.at(-1)
  const cursor = lastRun === undefined ? after : { runId: lastRun.runId, step: null }
  return { approvals, cursor, more: part.length === LOOKED_AT_MAX }
}

/** The numbers of the run's steps of this kind that match the request. */
function approvalsOf({ definition }: RunRow, { kind, workflow, step }: ApprovalsRequest): readonly number[] {
  const { name, shape } = definition.saved
  if (workflow !== undefined && workflow !== name) return []
  return shape.steps.flatMap((each, number) =>
    each.kind === kind && (step === undefined || step === each.name) ? [number] : [],
  )
}

function pendingApprovals(run: RunRow, request: ApprovalsRequest): readonly ApprovalRecord[] {
  const { after } = request
  const { version, shape } = run.definition.saved
  const { runId, workflow, key } = run
  return approvalsOf(run, request).flatMap((number) => {
    const { status, waitingSince, availableAt } = run.steps[number]!
    if (
      status !== 'waiting' ||
      (after?.runId === runId && !isBehind(run, number, { ...request, step: after.step }))
    )
      return []
    const step = shape.steps[number]!.name
    return [{ runId, workflow, version, key, step, since: waitingSince!, timeoutAt: availableAt }]
  })
}

/** If the step is none of the run any more, nothing comes after it: the next page begins with the next run. */
function isBehind(
  { definition }: RunRow,
  number: number,
  { kind: own, step: place }: Pick<ApprovalsRequest, 'kind'> & { readonly step: string | null },
): boolean {
  const { steps } = definition.saved.shape
  const at = steps.findIndex(({ name, kind }) => name === place && kind === own)
  return at >= 0 && number > at
}
