import type { ViewAttempt, ViewRun, ViewStep } from './model.ts'

/** What is looked up again and again while a run is drawn. */
export interface RunIndex {
  readonly step: ReadonlyMap<string, ViewStep>
  readonly dependents: ReadonlyMap<string, readonly string[]>
  readonly pivots: readonly ViewStep[]
  /** By round, from 1: `rounds[0]` is round 1. */
  readonly rounds: readonly RoundTimes[]
}

export interface RoundTimes {
  readonly startAt: number
  readonly stoppedAt?: number | undefined
  readonly drainedAt?: number | undefined
  /** When the next round began, the run ended, or it was read. */
  readonly endAt: number
}

const indexes = new WeakMap<ViewRun, RunIndex>()

/** Made once for each run, as runs are not changed. */
export function indexOf(run: ViewRun): RunIndex {
  const known = indexes.get(run)
  if (known !== undefined) return known
  const dependents = new Map<string, string[]>(run.steps.map(({ name }) => [name, []]))
  for (const { name, dependsOn } of run.steps)
    for (const other of dependsOn) dependents.get(other)?.push(name)
  const made = {
    step: new Map(run.steps.map((step) => [step.name, step])),
    dependents,
    pivots: run.steps.filter(({ pivot }) => pivot),
    rounds: roundsOf(run),
  }
  indexes.set(run, made)
  return made
}

/** Stop and drain of an earlier round are not kept: they are taken from its attempts. */
function roundsOf(run: ViewRun): readonly RoundTimes[] {
  const byRound = new Map<number, ViewAttempt[]>()
  for (const { known } of run.steps)
    for (const attempt of known) {
      const others = byRound.get(attempt.round)
      if (others === undefined) byRound.set(attempt.round, [attempt])
      else others.push(attempt)
    }
  const count = Math.max(1, run.rounds)
  const starts = Array.from({ length: count }, (_, index) => {
    if (index === 0) return Math.max(run.createdAt, run.startAt ?? 0)
    const begun = byRound.get(index + 1) ?? []
    return begun.reduce((least, { startAt }) => Math.min(least, startAt), run.readAt)
  })
  return starts.map((startAt, index) => {
    const { stoppedAt, drainedAt, readAt, finishedAt } = run
    if (index === count - 1) return { startAt, stoppedAt, drainedAt, endAt: finishedAt ?? readAt }
    return { startAt, ...stopOf(byRound.get(index + 1) ?? []), endAt: starts[index + 1]! }
  })
}

function stopOf(attempts: readonly ViewAttempt[]): Partial<RoundTimes> {
  const undos = attempts.filter(({ direction }) => direction === 'undo')
  if (undos.length === 0) return {}
  const drainedAt = undos.reduce((least, { startAt }) => Math.min(least, startAt), undos[0]!.startAt)
  const failures = attempts.filter(
    ({ direction, ended, endAt }) => direction === 'forward' && ended === 'failed' && endAt! <= drainedAt,
  )
  const stoppedAt = failures.reduce((latest, { endAt }) => Math.max(latest, endAt!), 0)
  return { stoppedAt: stoppedAt === 0 ? drainedAt : stoppedAt, drainedAt }
}

/** The round that a run was in at an instant. */
export function roundAt(run: ViewRun, at: number): number {
  const { rounds } = indexOf(run)
  const later = rounds.findLastIndex(({ startAt }) => startAt <= at)
  return Math.max(0, later) + 1
}

export function timesOf(run: ViewRun, round: number): RoundTimes {
  const { rounds } = indexOf(run)
  return rounds[Math.min(rounds.length, Math.max(1, round)) - 1]!
}

/** A step that completed and was not undone does not run again: then its attempts are of an earlier round than the run's. */
export function roundOf(step: ViewStep, round: number): number {
  return Math.min(step.round, round)
}

/** The attempts of a step in one round and direction, oldest first. Of a map: one, which spans its items. */
export function attemptsOf(
  step: ViewStep,
  direction: ViewAttempt['direction'],
  round: number,
): readonly ViewAttempt[] {
  const own = step.known.filter((attempt) => attempt.direction === direction && attempt.round === round)
  if (round !== step.round) return own
  const spanning = direction === 'forward' ? itemsForward(step, own) : itemsUndo(step, own)
  if (spanning !== undefined) return [spanning]
  const { waitingSince, status } = step
  const waits = direction === 'forward' && status === 'waiting' && waitingSince !== undefined
  if (!waits || own.at(-1)?.ended === 'waiting' || own.at(-1)?.ended === 'retrying') return own
  return [...own, { direction, round, attempt: own.length + 1, startAt: waitingSince, ended: 'waiting' }]
}

const OPEN = ['pending', 'ready', 'running', 'waiting']

function itemsForward(step: ViewStep, own: readonly ViewAttempt[]): ViewAttempt | undefined {
  const times = (step.items?.some ?? []).map(({ startAt, endAt }) => ({ startAt, endAt }))
  const ended = step.items?.failed ? 'failed' : 'completed'
  const base = { direction: 'forward', round: step.round } as const
  return spanOf(times, own, { ...base, ended: OPEN.includes(step.status) ? 'running' : ended })
}

function itemsUndo(step: ViewStep, own: readonly ViewAttempt[]): ViewAttempt | undefined {
  const times = (step.items?.some ?? []).map((item) => ({ startAt: item.undoStartAt, endAt: item.undoEndAt }))
  const ended = step.status === 'compensated' ? 'completed' : 'running'
  const base = { direction: 'undo', round: step.round } as const
  return spanOf(times, own, { ...base, ended: step.status === 'compensation_failed' ? 'failed' : ended })
}

function spanOf(
  items: readonly { readonly startAt?: number | undefined; readonly endAt?: number | undefined }[],
  own: readonly ViewAttempt[],
  { direction, round, ended }: Pick<ViewAttempt, 'direction' | 'round' | 'ended'>,
): ViewAttempt | undefined {
  const begun = items.filter(({ startAt }) => startAt !== undefined)
  if (begun.length === 0) return undefined
  const all = [...begun, ...own]
  const startAt = all.reduce((least, item) => Math.min(least, item.startAt!), Number.POSITIVE_INFINITY)
  const endAt = all.reduce((latest, item) => Math.max(latest, item.endAt ?? 0), 0)
  const error = own.at(-1)?.error
  return { direction, round, attempt: 1, startAt, ended, ...(ended === 'running' ? {} : { endAt }), error }
}
