import type { Diagnosis, OverdueSteps } from '../../adapter/index.ts'
import { counted } from '../../words.ts'
import { type FindingDraft, named, type Thresholds } from './finding.ts'

/** Fewer failures say nothing about a workflow. */
const FAILURES_MIN = 3
/** A queue grows if this much more is started than ends. Fewer starts than these say nothing. */
const GROWTH_MIN = 1.1
const STARTS_MIN = 20

/** Versions of which many runs failed of late. */
export function failing({ recentRuns }: Diagnosis, { failureRate }: Thresholds): readonly FindingDraft[] {
  return recentRuns
    .filter(({ failed, ended }) => failed >= FAILURES_MIN && failed >= failureRate * ended)
    .map(({ workflow, version, ended, endedSince, failed, failedStep, failedRunIds: runIds }) => {
      const since = new Date(endedSince)
      const where = failedStep === null ? '' : `, most of them at step "${failedStep}"`
      return {
        type: 'failing_runs',
        ...{ workflow, version, since, ended, failed, runIds, step: failedStep ?? undefined },
        message: `${failed} of ${counted(ended, 'run')} of workflow "${workflow}" version ${version} that ended since ${since.toISOString()} failed${where} (${named(runIds)}).`,
        remedy:
          'Read the explanation of one of these runs: it shows the error with its stack. When the reason is gone, retry the failed runs.',
      }
    })
}

/** Of these versions with overdue steps, those of which more runs are started of late than end. */
export function growing(
  overdueSteps: readonly OverdueSteps[],
  { recentRuns, now }: Diagnosis,
): readonly FindingDraft[] {
  return overdueSteps.flatMap(({ definitionId, workflow, version, steps }) => {
    const recent = recentRuns.find((runs) => runs.definitionId === definitionId)
    if (recent === undefined || recent.started < STARTS_MIN) return []
    const startsPerMinute = perMinute(recent.started, now - recent.startedSince)
    const endsPerMinute = perMinute(recent.ended, now - recent.endedSince)
    if (startsPerMinute <= GROWTH_MIN * endsPerMinute) return []
    return {
      type: 'growing_queue',
      ...{ workflow, version, startsPerMinute, endsPerMinute, steps },
      message: `The queue of workflow "${workflow}" version ${version} grows: ${rounded(startsPerMinute)} runs a minute are started and ${rounded(endsPerMinute)} end, and ${counted(steps, 'step')} ${steps === 1 ? 'is' : 'are'} overdue.`,
      remedy:
        'Start more workers, raise `concurrency` if they have processor and memory to spare, or start fewer runs until the queue is short again.',
    }
  })
}

function perMinute(count: number, withinMs: number): number {
  return (60_000 * count) / Math.max(withinMs, 1)
}

function rounded(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : String(Number(rate.toPrecision(2)))
}
