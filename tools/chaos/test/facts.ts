import type { CallFacts, EffectFacts, Facts, RunFacts, StepFacts } from '../src/oracle/facts.ts'
import { judge } from '../src/oracle/judge.ts'
import type { Rules } from '../src/oracle/rules.ts'

const NO_RULES: Rules = {
  effectSteps: {},
  undoneTogether: {},
  ledgerSteps: [],
  openingCents: 100,
  graphs: {},
  undoable: {},
  loops: {},
  limits: {},
  pivots: {},
  children: {},
  ends: {},
  values: {},
  retried: 'retried',
  expected: () => undefined,
  flow: {
    ...{ slots: [], rates: [], collecting: {} },
    ...{ ticking: 'tick', eachSecond: 'tick 0', oneAtATime: [] },
  },
}

export function step(name: string, status: string, more: Partial<StepFacts> = {}): StepFacts {
  return {
    ...{ name, status, undoOf: null, round: 1, attempt: 1, failures: 0, losses: 0 },
    ...{ output: null, error: null, finishedAt: null },
    ...more,
  }
}

export function run(
  id: string,
  status: RunFacts['status'],
  steps: readonly StepFacts[],
  more: Partial<RunFacts> = {},
): RunFacts {
  return {
    ...{ id, workflow: 'order', version: 1, key: `key-${id}`, status, stop: null, createdAt: 5 },
    ...{ input: null, parentId: null, digest: null, steps },
    ...more,
  }
}

/** A call of a step's handler, or of its undo. */
export function callOf(
  runId: string,
  name: string,
  beganAt: number,
  more: Partial<CallFacts> = {},
): CallFacts {
  const undo = more.undo ?? false
  const key = `${runId}:${name}${undo ? ':undo' : ''}`
  return {
    id: key,
    key,
    runId,
    step: name,
    undo,
    attempt: 1,
    worker: 'w1.1',
    beganAt,
    endedAt: beganAt,
    ...more,
  }
}

export function effectOf(
  runId: string,
  name: string,
  at: number,
  more: Partial<EffectFacts> = {},
): EffectFacts {
  const undo = more.undo ?? false
  const key = `${runId}:${name}${undo ? ':undo' : ''}`
  return { key, runId, step: name, undo, callId: key, at, ...more }
}

function facts(given: Partial<Facts>): Facts {
  return {
    ...{ runs: [], intents: [], orders: [], entries: [], accounts: [] },
    ...{ calls: [], effects: [], receipts: [], pauses: [], sightings: [], troubles: [] },
    ...{ entered: [], firings: [], schedules: [], leftovers: [], lapses: new Map() },
    freezes: new Map(),
    ...given,
  }
}

export function judged(given: Partial<Facts>, rules: Partial<Rules>) {
  return judge(facts(given), { ...NO_RULES, ...rules })
}

/** What is found, each kind once. */
export function kindsOf(given: Partial<Facts>, rules: Partial<Rules>): readonly string[] {
  return [...new Set(judged(given, rules).violations.map(({ kind }) => kind))]
}
