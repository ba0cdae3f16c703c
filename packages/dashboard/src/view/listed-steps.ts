import type { RunWithSteps } from '@belay/workflow'
import type { ListedStep } from '../api.ts'

/** The steps of a run for its strip. */
export function listedSteps({ steps }: Pick<RunWithSteps, 'steps'>): readonly ListedStep[] {
  return steps.map(({ name, kind, status, items }) => ({
    ...{ name, kind, status },
    items: items && { total: items.items, ended: items.ended, failed: failedIn(items.statuses) },
  }))
}

function failedIn({
  failed = 0,
  compensation_failed = 0,
}: {
  failed?: number
  compensation_failed?: number
}) {
  return failed + compensation_failed
}
