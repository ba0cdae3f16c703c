import { isTerminal } from '@belay/workflow/adapter'
import { grouped } from '../grouped.ts'
import { baseName, keyOf } from './effect-keys.ts'
import type { CallFacts, EffectFacts, Facts, RunFacts } from './facts.ts'
import type { Rules } from './rules.ts'
import { summarised, type Violation } from './violation.ts'

/** Beginnings are noted in whole milliseconds. */
const TOLERATED_MS = 1

/** The times of one step in its newest round; of a map or a loop, those of all its items; of a child, those of all its steps. */
interface Times {
  round: number
  begun: number
  done: number
  undoBegun: number
  undone: number
}

/** What the world knows. */
interface Known {
  /** By idempotency key. */
  readonly calls: ReadonlyMap<string, readonly CallFacts[]>
  readonly effects: ReadonlyMap<string, EffectFacts>
  /** By the id of the run. */
  readonly undoCalls: ReadonlyMap<string, readonly CallFacts[]>
}

/**
 * Each step begins after the effects of what it builds on, and is undone before them: also items, rounds among themselves, and children. Nothing of an
 * undone run stays completed. Once a pivot has completed, nothing of its run and its children is undone.
 */
export function judgeOrder(facts: Facts, rules: Rules): readonly Violation[] {
  const world: Known = {
    calls: grouped(facts.calls, ({ key }) => key),
    effects: new Map(facts.effects.map((effect) => [effect.key, effect])),
    undoCalls: grouped(
      facts.calls.filter(({ undo }) => undo),
      ({ runId }) => runId,
    ),
  }
  const children = grouped(
    facts.runs.filter(({ parentId }) => parentId !== null),
    ({ parentId }) => parentId!,
  )
  const wrong: string[] = []
  const left: string[] = []
  const pivots: string[] = []
  for (const run of facts.runs) {
    const graph = rules.graphs[run.workflow]
    if (graph === undefined) continue
    const family = (children.get(run.id) ?? []).filter((child) => stepOfChild(child, rules) !== undefined)
    const times = timesOf(run, family, world, rules)
    for (const [name, below] of graph)
      for (const other of below) wrong.push(...disorder(run, { name, other, times }))
    wrong.push(...disorderOfRounds(run, world, rules))
    left.push(...leftBehind(run, rules))
    pivots.push(...undoneAfterPivot(run, family, rules, world))
  }
  return [
    ...summarised('out_of_order', wrong),
    ...summarised('left_behind', left),
    ...summarised('undone_after_pivot', pivots),
  ]
}

function timesOf(
  run: RunFacts,
  family: readonly RunFacts[],
  world: Known,
  rules: Rules,
): ReadonlyMap<string, Times> {
  const all = new Map<string, Times>()
  const add = (name: string, one: Times) => {
    const known = all.get(name)
    all.set(name, known === undefined ? one : merged(known, one))
  }
  for (const step of run.steps) add(baseName(step.name), timesOfStep(run, step, world))
  // The first round of a child may be that of any round of its parent's step: only its undo is compared.
  for (const child of newest(family))
    for (const step of child.steps)
      add(stepOfChild(child, rules)!, {
        ...timesOfStep(child, step, world),
        begun: Infinity,
        done: -Infinity,
      })
  return all
}

/** Without the children of earlier rounds of their parent's steps: those were undone before these began. */
function newest(family: readonly RunFacts[]): readonly RunFacts[] {
  const byStep = new Map<string, RunFacts>()
  for (const child of family) {
    // From its second round on, a step's child has the round at the end of its key.
    const step = child.key?.replace(/:\d+$/, '') ?? child.id
    const known = byStep.get(step)
    if (known === undefined || known.createdAt < child.createdAt) byStep.set(step, child)
  }
  return [...byStep.values()]
}

function timesOfStep(run: RunFacts, step: RunFacts['steps'][number], { calls, effects }: Known): Times {
  const begins = (undo: boolean) =>
    (calls.get(keyOf(run.id, step, { undo })) ?? []).map(({ beganAt }) => beganAt)
  const at = (undo: boolean) => effects.get(keyOf(run.id, step, { undo }))?.at ?? -Infinity
  // What an attempt with an unknown outcome does may come late.
  const isKnown = step.status === 'completed' || step.undoOf === 'completed'
  return {
    round: step.round,
    begun: Math.min(...begins(false)),
    done: isKnown ? at(false) : -Infinity,
    undoBegun: Math.min(...begins(true)),
    undone: at(true),
  }
}

function merged(one: Times, other: Times): Times {
  return {
    round: Math.max(one.round, other.round),
    begun: Math.min(one.begun, other.begun),
    done: Math.max(one.done, other.done),
    undoBegun: Math.min(one.undoBegun, other.undoBegun),
    undone: Math.max(one.undone, other.undone),
  }
}

/** `name` builds on `other`. */
function disorder(
  { id, workflow, status }: RunFacts,
  {
    name,
    other,
    times,
  }: { readonly name: string; readonly other: string; readonly times: ReadonlyMap<string, Times> },
): readonly string[] {
  const [above, below] = [times.get(name), times.get(other)]
  if (above === undefined || below === undefined) return []
  const what = `In run ${id} of ${workflow} (${status}), step ${name} builds on ${other}`
  const wrong: string[] = []
  // A step that has not run again since the other was undone tells nothing about the other's newest round.
  if (above.round >= below.round && below.done > above.begun + TOLERATED_MS)
    wrong.push(
      `${what}, but it began ${Math.round(below.done - above.begun)} ms before the effect of ${other}.`,
    )
  if (above.undone > below.undoBegun + TOLERATED_MS)
    wrong.push(
      `${what}, but it was undone ${Math.round(above.undone - below.undoBegun)} ms after the undo of ${other} had begun.`,
    )
  return wrong
}

/** Rounds follow each other, and are undone one by one, the last one first. */
function disorderOfRounds(run: RunFacts, world: Known, { loops }: Rules): readonly string[] {
  return (loops[run.workflow] ?? []).flatMap((loop) => {
    const rounds = new Map(run.steps.map((step) => [step.name, step]))
    const wrong: string[] = []
    for (let number = 2; rounds.has(`${loop}[${number}]`); number += 1) {
      const [name, other] = [`${loop}[${number}]`, `${loop}[${number - 1}]`]
      const times = new Map(
        [name, other].flatMap((key) => {
          const step = rounds.get(key)
          return step === undefined ? [] : [[key, timesOfStep(run, step, world)] as const]
        }),
      )
      wrong.push(...disorder(run, { name, other, times }))
    }
    return wrong
  })
}

/** Completed steps of a run that was undone, although they have a compensation. */
function leftBehind(run: RunFacts, { undoable, pivots }: Rules): readonly string[] {
  if (!isTerminal(run.status) || run.status === 'completed' || run.stop === 'abandonment') return []
  const pivot = pivots[run.workflow]
  if (run.steps.some(({ name, status }) => name === pivot && status === 'completed')) return []
  return run.steps
    .filter(({ name, status }) => status === 'completed' && undoable[run.workflow]?.has(baseName(name)))
    .filter(({ name }) => !name.endsWith('[]') && !run.steps.some((step) => step.name === `${name}[]`))
    .map(
      ({ name }) => `Run ${run.id} of ${run.workflow} is ${run.status}, but its step ${name} was not undone.`,
    )
}

function undoneAfterPivot(
  run: RunFacts,
  family: readonly RunFacts[],
  { pivots }: Rules,
  { effects, undoCalls }: Known,
): readonly string[] {
  const pivot = run.steps.find(({ name }) => name === pivots[run.workflow])
  if (pivot?.status !== 'completed') return []
  const passedAt = effects.get(keyOf(run.id, pivot))?.at ?? Infinity
  return [run, ...family]
    .flatMap(({ id }) => undoCalls.get(id) ?? [])
    .filter(({ beganAt }) => beganAt > passedAt)
    .map(
      ({ runId, step, beganAt }) =>
        `Run ${run.id} of ${run.workflow} has passed its pivot ${pivot.name}, but the undo of ${step} of run ${runId} began ${Math.round(beganAt - passedAt)} ms later.`,
    )
}

function stepOfChild({ workflow }: RunFacts, { children }: Rules): string | undefined {
  return Object.entries(children).find(([, child]) => child.workflow === workflow && !child.isDetached)?.[0]
}
