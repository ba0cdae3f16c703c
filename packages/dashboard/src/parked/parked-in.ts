import { type RunSnapshot, type SerialisedError, type StepSnapshot, undoReport } from '@belay/workflow'
import { isItem, mapOf } from '../view-run.ts'

export interface ParkedUndo {
  /** As the verbs name it. */
  readonly step: string
  /** The map of an item; of any other step the same. */
  readonly of: string
  readonly error: SerialisedError | undefined
  readonly attempts: number
  readonly since: number
}

/** The undos of a run that failed for good. `withItems`: the same run, once for each map of which items are parked. */
export function parkedIn(run: RunSnapshot, withItems: readonly RunSnapshot[]): readonly ParkedUndo[] {
  const items = withItems.flatMap(({ steps }) => steps.filter(isItem))
  return [...run.steps, ...items]
    .filter(({ status }) => status === 'compensation_failed')
    .map((step) => ({
      step: step.name,
      of: isItem(step) ? mapOf(step) : step.name,
      error: step.undo?.error,
      attempts: step.undo?.attempts ?? 0,
      since: (step.undo?.finishedAt ?? run.readAt).getTime(),
    }))
}

const REMAIN: ReadonlySet<string> = new Set(['compensation_failed', 'waiting', 'succeeded', 'irreversible'])

/** How many effects are not undone, of a run that was read without items. */
export function remainIn(run: RunSnapshot): number {
  const ofItems = Object.entries(run.maps).map(([map, { statuses }]) => {
    const count = (statuses.compensation_failed ?? 0) + (statuses.compensating ?? 0)
    return { count, rows: [map, `${map}[]`] }
  })
  // The two rows of such a map only keep the order of its items.
  const counted = new Set(ofItems.flatMap(({ count, rows }) => (count > 0 ? rows : [])))
  const isCounted = (name: StepSnapshot['name']) => counted.has(name)
  const own = undoReport(run).filter(({ step, result }) => REMAIN.has(result) && !isCounted(step))
  return ofItems.reduce((sum, { count }) => sum + count, own.length)
}
