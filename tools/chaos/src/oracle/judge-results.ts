import { isDeepStrictEqual } from 'node:util'
import { grouped } from '../grouped.ts'
import { baseName, keyOf } from './effect-keys.ts'
import type { CallFacts, Facts, RunFacts } from './facts.ts'
import type { Rules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** A step that lost so many workers failed for that, whatever its input asks for. */
const LOSSES_MAX = 5

/** Completed runs have the results that a plain model computes, and the values of the attempts that completed. Maps never exceeded their limits. */
export function judgeResults(facts: Facts, rules: Rules) {
  const calls = grouped(facts.calls, ({ key }) => key)
  const retried = new Set(
    facts.sightings.filter(({ what }) => what === rules.retried).map(({ runId }) => runId),
  )
  const wrong: string[] = []
  const values: string[] = []
  const limits: string[] = []
  let poisoned = 0
  for (const run of facts.runs) {
    // After a retry, items that were kept may come on top of the limit.
    if (!retried.has(run.id)) limits.push(...beyondLimit(run, calls, rules))
    values.push(...wrongValue(run, rules))
    const isPoisoned = run.steps.some(({ losses }) => losses >= LOSSES_MAX)
    if (isPoisoned && rules.expected(run) !== undefined) poisoned += 1
    if (run.status === 'completed' && !isPoisoned) wrong.push(...wrongResults(run, rules))
  }
  const violations: readonly Violation[] = [
    ...summarised('wrong_result', wrong),
    ...summarised('wrong_value', values),
    ...summarised('limit_exceeded', limits),
  ]
  const exceptions: Record<string, number> =
    poisoned === 0 ? {} : { 'runs with a step that lost too many workers': poisoned }
  return { violations, exceptions }
}

function wrongResults(run: RunFacts, { expected }: Rules): readonly string[] {
  const steps = new Map(run.steps.map((step) => [step.name, step]))
  return Object.entries(expected(run) ?? {}).flatMap(([name, right]) => {
    const step = steps.get(name)
    const isRight =
      step?.status === right.status && (!('output' in right) || isDeepStrictEqual(step.output, right.output))
    if (isRight) return []
    return [
      `Step ${name} of run ${run.id} of ${run.workflow} is ${step?.status} with the output ${JSON.stringify(step?.output)}; the model says ${JSON.stringify(right)}.`,
    ]
  })
}

/** What a step published is there once it completed, and is that of the attempt that completed. */
function wrongValue(run: RunFacts, { values }: Rules): readonly string[] {
  const step = run.steps.find(({ name }) => name === values[run.workflow])
  if (step?.status !== 'completed') return []
  const right = { ...(step.output as object), attempt: step.attempt }
  if (isDeepStrictEqual(run.digest, right)) return []
  return [
    `Step ${step.name} of run ${run.id} of ${run.workflow} completed, and published ${JSON.stringify(right)}; the run's value is ${JSON.stringify(run.digest)}.`,
  ]
}

/** Items that have begun and have not ended, at any moment: also those that wait for another attempt. */
function beyondLimit(
  run: RunFacts,
  calls: ReadonlyMap<string, readonly CallFacts[]>,
  { limits }: Rules,
): readonly string[] {
  const limit = limits[run.workflow]
  if (limit === undefined) return []
  const { step: map, most } = limit
  const spans = run.steps.flatMap((step) => {
    const begun = calls.get(keyOf(run.id, step)) ?? []
    if (baseName(step.name) !== map || begun.length === 0 || step.finishedAt === null) return []
    return [{ from: Math.min(...begun.map(({ beganAt }) => beganAt)), to: step.finishedAt }]
  })
  const atOnce = Math.max(
    0,
    ...spans.map(({ from }) => spans.filter((one) => one.from <= from && one.to > from).length),
  )
  return atOnce <= most
    ? []
    : [
        `${atOnce} items of the map ${map} of run ${run.id} of ${run.workflow} were under way at once; its limit is ${most}.`,
      ]
}
