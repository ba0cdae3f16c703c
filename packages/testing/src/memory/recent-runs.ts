import type { RecentRuns } from '@belay/workflow/adapter'
import type { Rows, RunRow } from './rows.ts'

const RUN_IDS_MAX = 5

/** What was started and what ended since an instant, by definition. */
export function recentRuns(rows: Rows, since: number): readonly RecentRuns[] {
  const runs = [...rows.runs.values()]
  const started = runs.filter(({ createdAt }) => createdAt >= since)
  const ended = runs.filter(({ finishedAt }) => finishedAt !== null && finishedAt >= since).sort(byEnd)
  return [...rows.definitions.values()]
    .map(({ saved: { id: definitionId, name: workflow, version } }) => {
      const isOwn = ({ definition }: RunRow) => definition.saved.id === definitionId
      const failed = ended.filter((run) => isOwn(run) && run.stop === 'failure')
      return {
        ...{ definitionId, workflow, version },
        started: started.filter(isOwn).length,
        startedSince: since,
        ended: ended.filter(isOwn).length,
        endedSince: since,
        failed: failed.length,
        failedStep: mostFrequent(failed.flatMap(failedStepOf)),
        failedRunIds: failed.slice(0, RUN_IDS_MAX).map(({ runId }) => runId),
      }
    })
    .filter((recent) => recent.started + recent.ended > 0)
    .sort((one, other) => byText(one.workflow, other.workflow) || one.version - other.version)
}

/** The last first. */
function byEnd(one: RunRow, other: RunRow): number {
  return other.finishedAt! - one.finishedAt! || byText(other.runId, one.runId)
}

function failedStepOf({ cause }: RunRow): readonly string[] {
  const { type, step } = JSON.parse(cause!) as { readonly type: string; readonly step?: string }
  return type === 'step_failed' ? [step!] : []
}

function mostFrequent(names: readonly string[]): string | null {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [first] = [...counts].sort(([a, many], [b, more]) => more - many || byText(a, b))
  return first?.[0] ?? null
}

function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
