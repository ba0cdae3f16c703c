import { CALLS, LEAP_DAYS_PASSED } from './flow-control.mjs'
import type { FlowLeft, Span } from './flow-killed.ts'

/** What is wrong in a result of flow control, whoever was killed when: as sentences. */
export function wrongInFlow(left: FlowLeft): readonly string[] {
  return [...wrongEnds(left), ...overLimits(left), ...wrongCalls(left), ...wrongFirings(left)]
}

const COMPENSABLE = ['parcel', 'cancel-running']

function wrongEnds({ runs, parcels, effects }: FlowLeft): readonly string[] {
  const steps = ['label', 'pack[0]', 'pack[1]', 'mail']
  const right = [1, 2, 3].flatMap((parcel) => steps.map((step) => `${parcel}:${step}`))
  const made = [...right, '2:label:undo'].sort()
  return [
    ...runs
      .filter(({ of, status }) => status !== 'completed' && !COMPENSABLE.includes(of))
      .map(({ id, of, status }) => `Run ${id} of ${of} is ${status}.`),
    ...different('The parcels ended', parcels, ['completed', 'compensated', 'completed']),
    ...different('The parcels had the effects', [...effects].sort(), made),
  ]
}

function different(what: string, found: readonly string[], right: readonly string[]): readonly string[] {
  return found.join() === right.join() ? [] : [`${what} ${found.join(', ')} instead of ${right.join(', ')}.`]
}

/** All limits are 1. A handler that was cut off held its slot as it began, and for an unknown time. */
function overLimits({ spans }: FlowLeft): readonly string[] {
  return grouped(spans, ({ lim, key }) => `${lim} of "${key}"`).flatMap(([line, held]) => {
    const whole = line.startsWith('run of')
      ? grouped(held, ({ runId }) => runId).map(([, ofRun]) => wholeOf(ofRun))
      : held.map((span) => wholeOf([span]))
    const late = whole.filter(({ began }) => whole.some((one) => one.began < began && one.ended > began))
    if (late.length === 0) return []
    return [`The limit ${line} was exceeded at the moments ${late.map(({ began }) => began).join(', ')}.`]
  })
}

function grouped<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
): readonly (readonly [string, readonly Row[]])[] {
  const keys = [...new Set(rows.map(keyOf))]
  return keys.map((key) => [key, rows.filter((row) => keyOf(row) === key)])
}

function wholeOf(spans: readonly Span[]) {
  return {
    began: Math.min(...spans.map(({ began }) => began)),
    ended: Math.max(...spans.map(({ began, ended }) => ended ?? began)),
  }
}

/** Each call is in one run: the one that its answer named. A batch has all calls of its run, another run one of them. */
function wrongCalls({ runs, answers, stored, carried }: FlowLeft): readonly string[] {
  return Object.entries(CALLS).flatMap(([kind, count]) => {
    const of = <Row extends { readonly kind: string }>(rows: readonly Row[]) =>
      rows.filter((row) => row.kind === kind)
    const wrong: string[] = []
    const runIds = new Set(of(answers).map(({ runId }) => runId))
    const existing = runs.filter((run) => run.of === kind)
    if (existing.length !== runIds.size || existing.some(({ id }) => !runIds.has(id)))
      wrong.push(`${existing.length} runs of ${kind} exist, and calls were told of ${runIds.size}.`)
    const total = of(stored).reduce((sum, { calls }) => sum + calls, 0)
    if (total !== count) wrong.push(`The store has ${total} calls of ${kind}, and ${count} were made.`)
    for (const { call, runId } of of(answers)) {
      const carriers = of(carried).filter((one) => one.call === call)
      const isRight =
        carriers.every((one) => one.runId === runId) &&
        carriers.length === (kind === 'rows' ? 1 : carriers.length)
      if (!isRight)
        wrong.push(
          `The call ${call} was answered with ${runId}, and is carried by ${JSON.stringify(carriers)}.`,
        )
    }
    for (const runId of runIds)
      if (!of(carried).some((one) => one.runId === runId))
        wrong.push(`Run ${runId} of ${kind} carries no call.`)
    return wrong
  })
}

/** Each firing has one run, and each run one firing. A trigger whose answer was lost may have fired as well as the one that was asked for again. */
function wrongFirings({ runs, firings, seconds, asked }: FlowLeft): readonly string[] {
  const wrong: string[] = []
  // A time that is backfilled again has another firing, with the same run.
  const backfilled = firings.filter(({ cause }) => cause === 'backfill').map(({ runId }) => runId)
  const fired = [
    ...firings.filter(({ cause }) => cause !== 'backfill').map(({ runId }) => runId),
    ...new Set(backfilled),
  ].flatMap((runId) => runId ?? [])
  const ticked = runs.filter(({ of }) => firings.some((firing) => firing.of === of)).map(({ id }) => id)
  if (new Set(fired).size !== fired.length) wrong.push('Two firings have one run.')
  for (const id of ticked) if (!fired.includes(id)) wrong.push(`Run ${id} has no firing.`)
  for (const id of fired) if (!ticked.includes(id)) wrong.push(`The run ${id} of a firing does not exist.`)
  for (const { of, status, runId } of firings)
    if ((status === 'started') !== (runId !== null) || !['started', 'skipped'].includes(status))
      wrong.push(`A firing of ${of} is ${status}, with the run ${runId}.`)
  for (const { trigger, runId } of asked)
    if (runId !== null && !fired.includes(runId))
      wrong.push(`The trigger ${trigger} was told of run ${runId}, which no firing has.`)
  const count = (cause: string) => firings.filter((firing) => firing.cause === cause).length
  if (count('time') !== seconds) wrong.push(`${count('time')} times fired instead of ${seconds}.`)
  const leapDays = new Set(backfilled).size
  if (leapDays !== LEAP_DAYS_PASSED)
    wrong.push(`${leapDays} times were backfilled instead of ${LEAP_DAYS_PASSED}.`)
  // One process was killed, at most between one trigger and its answer.
  const triggers = count('trigger') - asked.length
  if (triggers < 0 || triggers > 1)
    wrong.push(`${count('trigger')} triggers fired, and ${asked.length} were asked for.`)
  return wrong
}
