import { grouped } from '../grouped.ts'
import type { Facts, IntentFacts, RunFacts } from './facts.ts'
import type { FlowRules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** Each collected call is in exactly one run, the one that its answer named, and a call that was rolled back is in none. */
export function judgeCalls(
  facts: Facts,
  { collecting }: Pick<FlowRules, 'collecting'>,
): readonly Violation[] {
  const found = { lost: [] as string[], doubled: [] as string[], rolledBack: [] as string[] }
  for (const [workflow, carries] of Object.entries(collecting)) {
    const intents = facts.intents.filter((intent) => intent.workflow === workflow)
    const runs = facts.runs.filter((run) => run.workflow === workflow)
    judgeWorkflow({ workflow, carries, intents, runs }, found)
  }
  return [
    ...summarised('call_lost', found.lost),
    ...summarised('call_doubled', found.doubled),
    ...summarised('call_from_rollback', found.rolledBack),
  ]
}

interface Collected {
  readonly workflow: string
  readonly carries: 'one' | 'all'
  readonly intents: readonly IntentFacts[]
  readonly runs: readonly RunFacts[]
}

function judgeWorkflow(
  { workflow, carries, intents, runs }: Collected,
  found: { readonly lost: string[]; readonly doubled: string[]; readonly rolledBack: string[] },
): void {
  const byKey = new Map(intents.map((intent) => [intent.key, intent]))
  const carriers = grouped(
    runs.flatMap((run) => callsOf(run).map((call) => ({ call, runId: run.id }))),
    ({ call }) => call,
  )
  const ids = new Set(runs.map(({ id }) => id))
  const told = new Set(intents.map(({ runId }) => runId))
  for (const { key, state, runId } of intents) {
    const runIds = (carriers.get(key) ?? []).map((carrier) => carrier.runId)
    const what = `The call ${key} of ${workflow}`
    if (state === 'rolled_back' && runIds.length > 0)
      found.rolledBack.push(`${what} was rolled back, and run ${runIds[0]} carries it.`)
    if (runIds.length > 1) found.doubled.push(`${what} is carried by the runs ${runIds.join(', ')}.`)
    if (state !== 'started') continue
    const isCarried = carries === 'all' ? runIds.includes(runId!) : ids.has(runId!)
    if (!isCarried) found.lost.push(`${what} was answered with run ${runId}, which does not carry it.`)
  }
  for (const run of runs) {
    for (const call of callsOf(run))
      if (byKey.get(call)?.state === 'started' && byKey.get(call)?.runId !== run.id)
        found.doubled.push(
          `Run ${run.id} of ${workflow} has the call ${call}, which was answered with run ${byKey.get(call)?.runId}.`,
        )
    // An intent that is still open is judged by not having ended.
    if (!told.has(run.id) && !callsOf(run).some((call) => byKey.get(call)?.state !== 'started'))
      found.doubled.push(`Run ${run.id} of ${workflow} exists, and no call was told of it.`)
  }
}

/** The calls in a run's input: those of a batch, or the last one. */
function callsOf({ input }: RunFacts): readonly string[] {
  const inputs: readonly unknown[] = Array.isArray(input) ? input : [input]
  return inputs.map((one) => String((one as { readonly call?: string } | null)?.call))
}
