import { isTerminal } from '@belay/workflow/adapter'
import { grouped } from '../grouped.ts'
import type { Facts, RunFacts } from './facts.ts'
import type { EndOf, Rules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** Each end of a run with end steps has exactly one follow-up, and its newest one ran exactly the end steps of that end, and was told how it ended. */
export function judgeEnds(facts: Facts, rules: Rules): readonly Violation[] {
  const followUps = grouped(
    facts.runs.filter(({ workflow }) => workflow.endsWith('/ended')),
    ({ parentId }) => parentId ?? 'nobody',
  )
  const retried = new Set(
    facts.sightings.filter(({ what }) => what === rules.retried).map(({ runId }) => runId),
  )
  const undone = new Set(facts.effects.filter(({ undo }) => undo).map(({ runId }) => runId))
  const wrong = facts.runs.flatMap((run) => {
    const ends = rules.ends[run.workflow]
    // A run that was taken back by its parent has ended twice. A child that never began is told of no end.
    if (ends === undefined || !isTerminal(run.status)) return []
    const own = (followUps.get(run.id) ?? []).filter(({ workflow }) => workflow === `${run.workflow}/ended`)
    const what = `Run ${run.id} of ${run.workflow} is ${run.status}`
    const newest = newestOf(own)
    if (newest === undefined) return [`${what}, but it has no follow-up.`]
    const endedTwice = retried.has(run.id) || run.parentId !== null
    if (own.length > 1 && !endedTwice)
      return [`${what}, but it has ${own.length} follow-ups: ${own.map(({ key }) => key).join(', ')}.`]
    return Object.entries(ends).flatMap(([name, of]) => {
      const step = newest.steps.find((candidate) => candidate.name === name)
      const wanted = isWanted(of, { status: run.status, isUndone: undone.has(run.id) })
      const ran = step?.status === 'completed'
      if (wanted === 'either' || (ran === wanted && (!ran || tellsOf(step.output, run)))) return []
      return [
        `${what}, but the end step ${name} (after: ${of}) of its follow-up ${newest.id} is ${step?.status}, with the output ${JSON.stringify(step?.output)}.`,
      ]
    })
  })
  return summarised('ends', wrong)
}

function newestOf(followUps: readonly RunFacts[]): RunFacts | undefined {
  const sequence = ({ key }: RunFacts) => Number(key?.split(':')[1] ?? 0)
  return [...followUps].sort((one, other) => sequence(other) - sequence(one))[0]
}

/** A cancelled run may have had something to undo that leaves no trace in the world. */
function isWanted(
  of: EndOf,
  { status, isUndone }: { readonly status: string; readonly isUndone: boolean },
): boolean | 'either' {
  if (of === 'any') return true
  if (of === 'completed') return status === 'completed'
  if (of === 'failed') return status === 'failed' || status === 'compensated'
  if (status === 'cancelled') return isUndone || 'either'
  return status === 'compensated'
}

function tellsOf(output: unknown, run: RunFacts): boolean {
  const told = output as { readonly of?: string; readonly status?: string } | null
  return told?.of === run.id && told.status === run.status
}
