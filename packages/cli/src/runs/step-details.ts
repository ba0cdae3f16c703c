import { span } from '@belay/graph-view'
import {
  type RunSnapshot,
  type StepSnapshot,
  type StepState,
  stepStates,
  type WorkflowStep,
} from '@belay/workflow'
import type { Shown } from '../terminal/shapes.ts'
import { safe } from '../terminal/text.ts'
import { moment } from '../terminal/time.ts'

/** One step as a line says it. Its texts are safe for a terminal. */
export interface StepLine {
  readonly name: string
  readonly dependsOn: readonly string[]
  readonly mark: Shown
  /** The status, or what else stands beside the mark. */
  readonly word: string
  readonly detail: string
}

interface About {
  readonly run: RunSnapshot
  readonly utc: boolean
  /** Whether the run is or was undone: then completed steps are told by what becomes of them. */
  readonly isUndone: boolean
}

/** The steps of a run, a map or a loop as one, with what is to be said about each at the moment when the run was read. */
export function stepLines(
  run: RunSnapshot,
  graph: readonly WorkflowStep[],
  { utc }: { readonly utc: boolean },
): readonly StepLine[] {
  const states = stepStates(run)
  const dependsOn = new Map(graph.map((step) => [step.name, step.dependsOn]))
  const isUndone =
    run.status === 'compensated' ||
    run.status === 'compensating' ||
    states.some(({ status }) => UNDO.has(status))
  const blocked = blockers(states, dependsOn)
  const rows = rowsByStep(run)
  return states.map((state) => {
    const { name, status } = state
    const blocker = blocked.get(name)
    const waits = status === 'compensating' && blocker !== undefined
    return {
      name,
      dependsOn: dependsOn.get(name) ?? [],
      mark: waits ? 'not yet its turn' : status,
      word: status,
      detail: waits
        ? `after ${safe(blocker)}`
        : safe(detailOf({ run, utc, isUndone }, state, rows.get(name)!)),
    }
  })
}

/** Of each step whose undo is not over, a step that is undone before it: the nearest that depends on it. */
function blockers(
  states: readonly StepState[],
  dependsOn: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  // From the last step, so that what blocks a dependent is known before what that blocks.
  for (const { name, status } of states.toReversed()) {
    const isOpen = status === 'compensating' || status === 'compensation_failed'
    const blocker = isOpen ? name : found.get(name)
    if (blocker === undefined) continue
    for (const on of dependsOn.get(name) ?? []) if (!found.has(on) || isOpen) found.set(on, blocker)
  }
  return found
}

/** A map's rows are its own, that of the step that decides its items, and those of the items. */
function rowsByStep({ steps }: RunSnapshot): ReadonlyMap<string, readonly StepSnapshot[]> {
  const rows = new Map<string, StepSnapshot[]>()
  for (const step of steps) {
    const { name, itemKey } = step
    const map = itemKey === undefined ? name.replace(/\[\]$/, '') : name.slice(0, -itemKey.length - 2)
    const known = rows.get(map)
    if (known === undefined) rows.set(map, [step])
    else known.push(step)
  }
  return rows
}

/** Whether nothing more happens in a run unless a person acts. */
export function isOver(run: RunSnapshot, lines: readonly StepLine[]): boolean {
  if (run.finishedAt !== undefined) return true
  return run.status === 'compensation_failed' && !lines.some(({ mark }) => mark === 'compensating')
}

const UNDO: ReadonlySet<string> = new Set(['compensating', 'compensated', 'compensation_failed'])

function detailOf(about: About, { name, status, items }: StepState, rows: readonly StepSnapshot[]): string {
  const { run } = about
  const own = rows.find((step) => step.name === name)!
  const counted = items === undefined || items.items === 0 ? [] : [itemCount(items)]
  return (UNDO.has(status) ? undoFacts(status, rows, run.readAt) : facts(about, own, rows))
    .concat(counted)
    .filter((fact) => fact !== '')
    .join(', ')
    .concat(trouble(status, own))
}

function itemCount({ items, ended, statuses }: NonNullable<StepState['items']>): string {
  const failed = (statuses.failed ?? 0) + (statuses.compensation_failed ?? 0)
  return `${ended} of ${items} items${failed === 0 ? '' : `, ${failed} failed`}`
}

/** Going forward. */
function facts(about: About, step: StepSnapshot, rows: readonly StepSnapshot[]): readonly string[] {
  const { run, utc, isUndone } = about
  const { status, attempts, dueAt, progress, kind } = step
  const { readAt } = run
  switch (status) {
    case 'completed':
      if (isUndone) return [afterUndo(step)]
      return [took(rows, readAt), attempts > 1 ? `attempt ${attempts}` : '']
    case 'running':
      return [`attempt ${attempts}`, took(rows, readAt), progressOf(progress)]
    case 'ready':
      if (dueAt !== undefined && dueAt > readAt) {
        const rest = span(dueAt.getTime() - readAt.getTime())
        return [attempts > 0 ? `attempt ${attempts + 1} in ${rest}` : `in ${rest}`]
      }
      return [attempts > 0 ? `attempt ${attempts + 1} is due` : 'due']
    case 'waiting':
      if (dueAt === undefined) return [kind === 'approval' ? 'for a decision' : '']
      return [`until ${moment(dueAt, readAt, { utc })}${PEOPLE.has(kind) ? ' at the latest' : ''}`]
    case 'skipped':
      return isUndone ? [] : [skipOf(step)]
    case 'failed':
      return [attempts > 0 ? `attempt ${attempts}` : '']
    default:
      return []
  }
}

const PEOPLE: ReadonlySet<string> = new Set(['signal', 'approval', 'poll'])

function afterUndo({ irreversible, kept }: StepSnapshot): string {
  if (irreversible) return 'cannot be undone, and stays'
  return kept ? 'what its child did is kept' : 'nothing to undo'
}

function progressOf(progress: StepSnapshot['progress']): string {
  if (progress === undefined || progress.done === undefined) return ''
  return progress.total === undefined ? `${progress.done} done` : `${progress.done} of ${progress.total}`
}

function skipOf({ skip }: StepSnapshot): string {
  switch (skip?.because) {
    case 'when':
      return 'its when() was false'
    case 'case':
      return `"${skip.choice}" chose "${skip.case}"`
    case 'outcome':
      return `"${skip.dependency}" ${skip.outcome}`
    case 'dependency':
      return `"${skip.dependency}" was skipped`
    case 'limit':
      return `limit "${skip.limit}" had no slot`
    case 'operator':
      return 'by an operator'
    default:
      return ''
  }
}

/** Of the step, or of a map from its begin to the end of its last item. */
function took(rows: readonly StepSnapshot[], now: Date): string {
  return spanOf(
    rows.map(({ startedAt, finishedAt }) => ({ startedAt, finishedAt })),
    now,
  )
}

function spanOf(
  times: readonly { readonly startedAt: Date | undefined; readonly finishedAt: Date | undefined }[],
  now: Date,
): string {
  const begun = times.filter(({ startedAt }) => startedAt !== undefined)
  if (begun.length === 0) return ''
  const from = Math.min(...begun.map(({ startedAt }) => startedAt!.getTime()))
  const to = Math.max(...begun.map(({ finishedAt }) => (finishedAt ?? now).getTime()))
  return span(to - from)
}

function undoFacts(status: string, rows: readonly StepSnapshot[], now: Date): readonly string[] {
  const undos = rows.flatMap(({ undo }) => (undo === undefined ? [] : [undo]))
  const open = undos.find(({ dueAt }) => dueAt !== undefined && dueAt > now)
  if (open !== undefined)
    return [`attempt ${open.attempts + 1} in ${span(open.dueAt!.getTime() - now.getTime())}`]
  if (undos.some(({ skipped }) => skipped)) return ['marked by an operator']
  const attempts = Math.max(0, ...undos.map((undo) => undo.attempts))
  const isOpen = status === 'compensating' && attempts > 0
  return [isOpen || attempts > 1 ? `attempt ${attempts}` : '', spanOf(undos, now)]
}

/** The error that matters now. */
function trouble(status: string, { error, undo, attempts, kind }: StepSnapshot): string {
  const isUndo = status === 'compensating' || status === 'compensation_failed'
  const shown = isUndo ? undo?.error : error
  if (shown === undefined || (!isUndo && status !== 'failed' && status !== 'ready')) return ''
  return attempts > 0 || isUndo || kind === 'map' ? `; ${shown.message}` : shown.message
}
