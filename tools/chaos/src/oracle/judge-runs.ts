import type { Facts } from './facts.ts'
import type { FlowRules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** Every wanted run exists once, no rolled-back run exists, and nothing acknowledged was lost. */
export function judgeRuns(facts: Facts, { collecting }: Pick<FlowRules, 'collecting'>): readonly Violation[] {
  // Calls that are collected have no runs of their own.
  const intents = facts.intents.filter(({ workflow }) => collecting[workflow] === undefined)
  return [...judgeStarts({ ...facts, intents }), ...lostSignals(facts)]
}

function judgeStarts({ runs, intents, orders }: Facts): readonly Violation[] {
  const byKey = new Map<string, number>()
  for (const { key } of runs) if (key !== null) byKey.set(key, (byKey.get(key) ?? 0) + 1)
  const byId = new Map(runs.map((run) => [run.id, run]))
  const ordersByKey = new Map<string, number>()
  for (const key of orders) ordersByKey.set(key, (ordersByKey.get(key) ?? 0) + 1)
  const ofState = (state: string) => intents.filter((intent) => intent.state === state)

  const lost = ofState('started').filter(
    ({ key, runId }) => !byKey.has(key) || byId.get(runId ?? '') === undefined,
  )
  const doubled = [...byKey].filter(([, count]) => count > 1)
  const rolledBack = ofState('rolled_back').filter(({ key }) => byKey.has(key))
  const unordered = intents.filter(
    ({ key, kind }) => kind === 'tx' && (byKey.get(key) ?? 0) !== (ordersByKey.get(key) ?? 0),
  )
  return [
    ...summarised(
      'run_lost',
      lost.map(
        ({ key, runId }) => `run() resolved for key ${key} with run ${runId}, but there is no such run.`,
      ),
    ),
    ...summarised(
      'run_doubled',
      doubled.map(([key, count]) => `The key ${key} has ${count} runs.`),
    ),
    ...summarised(
      'run_from_rollback',
      rolledBack.map(({ key }) => `The start with key ${key} was rolled back, but there is a run with it.`),
    ),
    ...summarised(
      'order_lost',
      unordered.map(
        ({ key }) =>
          `The key ${key} was started in a transaction: it has ${byKey.get(key) ?? 0} runs and ${ordersByKey.get(key) ?? 0} orders.`,
      ),
    ),
  ]
}

function lostSignals({ runs, receipts }: Facts): readonly Violation[] {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const lost = receipts.filter(({ runId, step: name, nonce, result }) => {
    if (result !== 'delivered' && result !== 'kept') return false
    const step = byId.get(runId)?.steps.find((candidate) => candidate.name === name)
    return step?.status === 'completed' && !isNonce(step.output, nonce)
  })
  return summarised(
    'signal_lost',
    lost.map(
      ({ runId, step, result }) =>
        `The signal to step ${step} of run ${runId} was acknowledged as ${result}, but the step completed with something else.`,
    ),
  )
}

function isNonce(output: unknown, nonce: string): boolean {
  return typeof output === 'object' && output !== null && 'nonce' in output && output.nonce === nonce
}
