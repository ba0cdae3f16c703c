import { grouped } from '../grouped.ts'
import { baseName, keyOf } from './effect-keys.ts'
import type { CallFacts, EffectFacts, Facts, RunFacts, StepFacts } from './facts.ts'
import { summarised, type Violation } from './violation.ts'

export interface EffectRules {
  /** Steps that make an effect when they complete, by workflow. */
  readonly effectSteps: Readonly<Record<string, readonly string[]>>
  /** Maps that are undone all at once: the row of an item does not tell that it was undone. */
  readonly undoneTogether: Readonly<Record<string, readonly string[]>>
}

interface Findings {
  readonly lost: string[]
  readonly orphaned: string[]
  readonly late: string[]
  readonly stale: string[]
  readonly unbegun: string[]
  readonly exceptions: Record<string, number>
}

/** One step with all that the world knows of it. */
interface Looked {
  readonly run: RunFacts
  readonly step: StepFacts
  readonly forward: EffectFacts | undefined
  readonly undo: EffectFacts | undefined
  readonly calls: readonly CallFacts[]
  readonly undoCalls: readonly CallFacts[]
}

/**
 * The world agrees with the rows. For each step with an effect:
 * - completed: its effect exists, and no effect of its undo;
 * - compensated: its undo's effect exists, and no effect of the step came after that;
 * - failed or cancelled after an attempt whose outcome its row calls unknown (a loss, a failure or an error): an effect may exist;
 * - never began: no effect exists.
 * Also, no attempt begins after a newer one of the same step has begun. An effect after its undo is allowed, and counted, if its process was stopped
 * inside the handler: the handler had begun before, and no fence reaches the world.
 */
export function judgeEffects(facts: Facts, rules: EffectRules) {
  const findings: Findings = { lost: [], orphaned: [], late: [], stale: [], unbegun: [], exceptions: {} }
  const effects = new Map(facts.effects.map((effect) => [effect.key, effect]))
  const calls = grouped(facts.calls, ({ key }) => key)
  for (const run of facts.runs) {
    for (const step of effectStepsOf(run, rules)) {
      const of = (undo: boolean) => keyOf(run.id, step, { undo })
      const looked: Looked = {
        run,
        step,
        forward: effects.get(of(false)),
        undo: effects.get(of(true)),
        calls: calls.get(of(false)) ?? [],
        undoCalls: calls.get(of(true)) ?? [],
      }
      judgeStep(looked, findings)
      judgeEarlierRounds(looked, effects, findings)
      judgeOrder(looked, facts, findings)
      judgeStale(looked, findings)
      judgeBeginning(looked, facts, findings)
    }
  }
  const known = new Set(facts.runs.map(({ id }) => id))
  for (const { runId, step } of facts.effects)
    if (!known.has(runId))
      findings.orphaned.push(`Step ${step} of run ${runId} had an effect, but there is no such run.`)
  const violations: readonly Violation[] = [
    ...summarised('effect_lost', findings.lost),
    ...summarised('effect_orphaned', findings.orphaned),
    ...summarised('effect_after_undo', findings.late),
    ...summarised('stale_beginning', findings.stale),
    ...summarised('undo_without_beginning', findings.unbegun),
  ]
  return { violations, exceptions: findings.exceptions }
}

/** Steps of a run whose effects are judged, as their rows tell how they ended. Of a map or a loop, these are its items. */
function effectStepsOf(run: RunFacts, rules: EffectRules): readonly StepFacts[] {
  const named = new Map(run.steps.map((step) => [step.name, step]))
  return run.steps.flatMap((step) => {
    const base = baseName(step.name)
    const opener = named.get(`${base}[]`)
    if (!rules.effectSteps[run.workflow]?.includes(base)) return []
    if (opener === undefined) return [step]
    if (step.name === base || step === opener) return []
    const isUndone = opener.status === 'compensated' && step.status === 'completed'
    if (!isUndone || !rules.undoneTogether[run.workflow]?.includes(base)) return [step]
    return [{ ...step, status: 'compensated', undoOf: 'completed' }]
  })
}

/** A step runs again only after it was undone. */
function judgeEarlierRounds(
  { run, step }: Looked,
  effects: ReadonlyMap<string, EffectFacts>,
  { orphaned }: Findings,
): void {
  for (let of = 1; of < step.round; of += 1) {
    if (!effects.has(keyOf(run.id, step, { of })) || effects.has(keyOf(run.id, step, { of, undo: true })))
      continue
    orphaned.push(
      `Step ${step.name} of run ${run.id} (${run.status}) is in round ${step.round}, but its effect of round ${of} was not undone.`,
    )
  }
}

function judgeStep({ run, step, forward, undo }: Looked, { lost, orphaned, exceptions }: Findings): void {
  const what = `Step ${step.name} of run ${run.id} (${run.status})`
  if (step.status === 'completed') {
    if (forward === undefined) lost.push(`${what} is completed, but the world has no effect of it.`)
    if (undo !== undefined) orphaned.push(`${what} is completed, but the world has an effect of its undo.`)
  } else if (step.status === 'compensated') {
    if (undo === undefined) lost.push(`${what} is compensated, but the world has no effect of its undo.`)
    if (step.undoOf === 'completed' && forward === undefined)
      lost.push(`${what} was completed before its undo, but the world has no effect of it.`)
  } else if (forward !== undefined && !isOpen(step)) {
    if (isUnknown(step)) count(exceptions, 'effects of attempts whose outcome the rows call unknown')
    else orphaned.push(`${what} is ${step.status} without an attempt, but the world has an effect of it.`)
  }
}

/** Open or parked steps: judged by their run not having ended, not by their effects. */
function isOpen({ status }: StepFacts): boolean {
  return ['running', 'waiting', 'ready', 'pending', 'compensating', 'compensation_failed'].includes(status)
}

function isUnknown({ losses, failures, error, attempt }: StepFacts): boolean {
  return losses > 0 || failures > 0 || error !== null || attempt > 1
}

/** No effect after its undo, and no handler that begins after its undo has begun. */
function judgeOrder(
  { run, step, forward, undo, calls, undoCalls }: Looked,
  facts: Facts,
  findings: Findings,
): void {
  const undoBeganAt = Math.min(...undoCalls.map(({ beganAt }) => beganAt))
  const what = `Step ${step.name} of run ${run.id} (${run.status})`
  for (const call of calls) {
    // Both instants are taken when a handler is entered: a process cannot be stopped in between.
    if (call.beganAt <= undoBeganAt) continue
    findings.late.push(
      `${what}: its handler began in ${call.worker} ${ms(call.beganAt - undoBeganAt)} after its undo had begun.`,
    )
  }
  if (forward === undefined || undo === undefined || forward.at <= undo.at) return
  const call = calls.find(({ id }) => id === forward.callId)
  if (call !== undefined && wasFrozen(call, forward.at, facts.freezes))
    count(findings.exceptions, 'effects after their undo, of handlers that were stopped inside')
  else
    findings.late.push(
      `${what}: its effect came ${ms(forward.at - undo.at)} after its undo, from ${call?.worker ?? 'an unknown process'}, which was not stopped meanwhile.`,
    )
}

/** No handler begins after its lease has ended: by then, a newer attempt's handler has begun. */
function judgeStale({ run, step, calls, undoCalls }: Looked, { stale }: Findings): void {
  for (const tries of [calls, undoCalls]) {
    for (const call of tries) {
      const newer = tries.find(({ attempt, beganAt }) => attempt > call.attempt && beganAt < call.beganAt)
      if (newer === undefined) continue
      stale.push(
        `Step ${step.name} of run ${run.id} (${run.status}): attempt ${call.attempt} of ${call.undo ? 'its undo' : 'it'} began in ${call.worker} ${ms(call.beganAt - newer.beganAt)} after attempt ${newer.attempt} had begun in ${newer.worker}.`,
      )
    }
  }
}

/** After a worker was lost, its lease ends within this time. */
const LOST_MS = 4_000

/**
 * `compensateOn: 'started'` undoes what has begun, and a handler records its beginning. Nobody knows how far a lost worker got, and the rows of an
 * undone step do not record lost workers. So this is judged only for runs during which no worker could be lost.
 */
function judgeBeginning(
  { run, step, calls, undoCalls }: Looked,
  { troubles }: Facts,
  findings: Findings,
): void {
  if (undoCalls.length === 0 || calls.length > 0) return
  const undoneAt = Math.min(...undoCalls.map(({ beganAt }) => beganAt))
  if (troubles.some(({ from, to }) => from < undoneAt && to + LOST_MS > run.createdAt))
    count(findings.exceptions, 'undos of steps that no handler noted, while a worker may have been lost')
  else
    findings.unbegun.push(
      `Step ${step.name} of run ${run.id} (${run.status}) was undone (undo of ${step.undoOf}), but its handler never began.`,
    )
}

function wasFrozen(call: CallFacts, until: number, freezes: Facts['freezes']): boolean {
  return (freezes.get(call.worker) ?? []).some(({ from, to }) => from < until && to > call.beganAt)
}

function ms(value: number): string {
  return `${Math.round(value)} ms`
}

function count(exceptions: Record<string, number>, what: string): void {
  exceptions[what] = (exceptions[what] ?? 0) + 1
}
