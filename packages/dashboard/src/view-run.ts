import type { ViewAttempt, ViewCause, ViewRun } from '@belay/graph-view'
import {
  type RunAttempt,
  type RunHistoryEntry,
  type RunSnapshot,
  stepStates,
  type WorkflowStep,
} from '@belay/workflow'
import { grouped } from './grouped.ts'
import { type Texts, textsFor } from './view/texts.ts'
import { type StepRows, viewStep } from './view/view-step.ts'

/** What a run may show beyond its own rows. */
export interface ViewOptions {
  /** Default: errors without their messages. */
  readonly texts?: Texts
  /** The newest run that each step has started, as far as it is known. */
  readonly childIds?: ReadonlyMap<string, string>
}

/** A run as it is drawn: a pure function of what the engine tells of it. */
export function viewRun(
  run: RunSnapshot,
  graph: readonly WorkflowStep[],
  attempts: readonly RunAttempt[],
  history: readonly RunHistoryEntry[],
  { texts = textsFor(false, undefined), childIds }: ViewOptions = {},
): ViewRun {
  const written = new Map(graph.map((step) => [step.name, step]))
  const rows = rowsByStep(run)
  const keptBy = grouped(attempts, ({ step }) => step)
  const steps = stepStates(run).map((state) => {
    const own = rows.get(state.name)!
    return viewStep({
      ...{ rows: own, state, texts, written: written.get(state.name), childId: childIds?.get(state.name) },
      kept: keptBy.get((own.opener ?? own.own).name) ?? [],
    })
  })
  const { id, workflow, version, key, status, cause } = run
  const known = [...steps.flatMap((step) => step.known), ...run.steps.filter(isItem).flatMap(timesOf)]
  const stoppedAt = stopOf(run, history, known)
  return {
    ...{ id, workflow, version, key, status, steps, stoppedAt },
    createdAt: run.createdAt.getTime(),
    startAt: run.startAt?.getTime(),
    finishedAt: run.finishedAt?.getTime(),
    readAt: run.readAt.getTime(),
    cause: cause === undefined ? undefined : viewCause(cause, texts),
    drainedAt: stoppedAt === undefined ? undefined : drainOf(run, stoppedAt, known),
    rounds: run.steps.reduce((most, { round }) => Math.max(most, round), 1),
  }
}

/** A map's rows are its own, that of the step that decides its items, and those of the items. */
function rowsByStep({ steps }: Pick<RunSnapshot, 'steps'>): ReadonlyMap<string, StepRows> {
  const all = new Map(steps.filter((step) => !isItem(step)).map((step) => [step.name, step]))
  const items = grouped(steps.filter(isItem), mapOf)
  return new Map(
    [...all].map(([name, own]) => [
      name,
      { own, opener: all.get(`${name}[]`), items: items.get(name) ?? [] },
    ]),
  )
}

type Step = RunSnapshot['steps'][number]

export function isItem({ itemKey }: Step): boolean {
  return itemKey !== undefined
}

/** The map of an item. */
export function mapOf({ name, itemKey }: Step): string {
  return name.slice(0, -(itemKey!.length + '[]'.length))
}

type Times = Pick<ViewAttempt, 'direction' | 'startAt' | 'endAt' | 'ended'>

function timesOf({ startedAt, finishedAt, status, undo }: Step): readonly Times[] {
  const spans: Times[] = []
  if (startedAt !== undefined) {
    const ended = status === 'running' ? ('running' as const) : ('completed' as const)
    spans.push({ direction: 'forward', startAt: startedAt.getTime(), endAt: finishedAt?.getTime(), ended })
  }
  if (undo?.startedAt !== undefined) {
    const startAt = undo.startedAt.getTime()
    spans.push({ direction: 'undo', startAt, endAt: undo.finishedAt?.getTime(), ended: 'completed' })
  }
  return spans
}

/** When it stopped going forward. A cancellation that came from a run above has no entry in the history. */
function stopOf(
  { cause, steps, finishedAt }: RunSnapshot,
  history: readonly RunHistoryEntry[],
  known: readonly Times[],
): number | undefined {
  switch (cause?.type) {
    case undefined:
      return undefined
    case 'step_failed':
      return steps.find(({ name }) => name === cause.step)?.finishedAt?.getTime() ?? firstUndo(known)
    case 'deadline':
      return new Date(cause.deadlineAt).getTime()
    case 'cancelled': {
      const cancel = history.findLast(({ action }) => action === 'cancel')
      return cancel?.at.getTime() ?? firstUndo(known) ?? finishedAt?.getTime()
    }
    case 'limit_reached':
      return finishedAt?.getTime()
  }
}

/** When its last handler had ended after the stop. Undefined while one still runs. */
function drainOf(run: RunSnapshot, stoppedAt: number, known: readonly Times[]): number | undefined {
  const began = firstUndo(known, stoppedAt)
  if (began !== undefined) return began
  const forward = known.filter(({ direction, ended }) => direction === 'forward' && ended !== 'waiting')
  if (run.finishedAt === undefined && forward.some(({ ended }) => ended === 'running')) return undefined
  return Math.max(stoppedAt, ...forward.flatMap(({ endAt }) => endAt ?? []))
}

/** Not of an earlier round: those undos began before this stop. */
function firstUndo(known: readonly Times[], after = 0): number | undefined {
  const begun = known.flatMap(({ direction, startAt }) =>
    direction === 'undo' && startAt >= after ? startAt : [],
  )
  return begun.length === 0 ? undefined : begun.reduce((one, other) => Math.min(one, other))
}

function viewCause(cause: NonNullable<RunSnapshot['cause']>, texts: Texts): ViewCause {
  switch (cause.type) {
    case 'step_failed':
      return { type: cause.type, step: cause.step, text: texts.error(cause.error, cause.step) }
    case 'cancelled':
      return { type: cause.type, text: cause.reason }
    case 'deadline':
      return { type: cause.type, text: `its deadline was ${cause.deadlineAt}` }
    case 'limit_reached':
      return { type: cause.type, text: `limit "${cause.limit}" had no slot` }
  }
}
