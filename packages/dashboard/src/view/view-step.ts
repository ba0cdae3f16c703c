import type { ViewItem, ViewItems, ViewStep } from '@belay/graph-view'
import type { MapState, RunAttempt, StepSnapshot, StepState, WorkflowStep } from '@belay/workflow'
import { standingError, standingUndoError } from './standing-error.ts'
import type { Texts } from './texts.ts'
import { viewAttempts } from './view-attempts.ts'

const ITEMS_SHOWN_MAX = 400

/** The rows of a step: a map has more than one. */
export interface StepRows {
  readonly own: StepSnapshot
  /** The step that decides the items of a map, and undoes them if one call does. */
  readonly opener?: StepSnapshot | undefined
  readonly items: readonly StepSnapshot[]
}

export interface ToView {
  readonly rows: StepRows
  readonly state: StepState
  /** Undefined if the stored version has no such step. */
  readonly written: WorkflowStep | undefined
  readonly kept: readonly RunAttempt[]
  readonly texts: Texts
  readonly childId: string | undefined
}

export function viewStep({ rows, state, written, kept, texts, childId }: ToView): ViewStep {
  const { own, opener, items } = rows
  // The row that gathers a map's items calls no handler.
  const acts = opener ?? own
  return {
    ...writtenFacts(own, written),
    ...standing(acts),
    name: own.name,
    kind: state.kind,
    status: state.status,
    known: viewAttempts(acts, written, kept, texts),
    error: standingError(acts, items, { written, texts }),
    skipped: own.skip === undefined ? undefined : skipWords(own.skip),
    kept: own.kept || items.some((item) => item.kept),
    undo: undoOf(acts, texts),
    items: state.items && itemsOf(state.items, own, items),
    childId,
  }
}

/** An item of a map as a step. */
export function viewItem(item: StepSnapshot, written: WorkflowStep | undefined, texts: Texts): ViewStep {
  const state = { name: item.name, kind: item.kind, status: item.status, items: undefined }
  const own = { rows: { own: item, items: [] }, state, texts, kept: [], childId: undefined }
  return viewStep({ ...own, written: written && { ...written, dependsOn: [], kind: item.kind } })
}

function writtenFacts(own: StepSnapshot, written: WorkflowStep | undefined) {
  const { dependsOn = [], compensate = 'never', pivot = false } = written ?? {}
  const irreversible = written?.irreversible ?? own.irreversible
  return { dependsOn, compensate, pivot, irreversible }
}

function standing(step: StepSnapshot) {
  const { round, attempts, attemptsMax, failures, losses, workerId } = step
  return {
    ...{ round, attempts, attemptsMax, failures, losses, workerId },
    waitingSince: step.waitingSince?.getTime(),
    signalledAt: step.signalledAt?.getTime(),
    dueAt: (step.dueAt ?? step.undo?.dueAt)?.getTime(),
  }
}

function undoOf(step: StepSnapshot, texts: Texts): ViewStep['undo'] {
  const { undo } = step
  if (undo === undefined) return undefined
  const { attempts, failures, losses, skipped, dueAt } = undo
  return {
    ...{ attempts, failures, losses, skipped },
    error: standingUndoError(step, texts),
    dueAt: dueAt?.getTime(),
  }
}

function itemsOf(
  { items: total, ended, statuses }: MapState,
  own: StepSnapshot,
  items: readonly StepSnapshot[],
): ViewItems {
  // An item that fails for good cancels the row that would gather the results.
  const failed = own.status === 'failed' || (own.status === 'cancelled' && (statuses.failed ?? 0) > 0)
  return { total, ended, statuses, failed, some: items.slice(0, ITEMS_SHOWN_MAX).map(barOf) }
}

function barOf({ itemKey, status, startedAt, finishedAt, undo }: StepSnapshot): ViewItem {
  return {
    key: itemKey!,
    status,
    startAt: startedAt?.getTime(),
    endAt: finishedAt?.getTime(),
    undoStartAt: undo?.startedAt?.getTime(),
    undoEndAt: undo?.finishedAt?.getTime(),
  }
}

function skipWords(skip: NonNullable<StepSnapshot['skip']>): string {
  switch (skip.because) {
    case 'when':
      return 'its when() was false'
    case 'case':
      return `"${skip.choice}" chose ${JSON.stringify(skip.case)}`
    case 'outcome':
      return `"${skip.dependency}" ${skip.outcome}`
    case 'dependency':
      return `"${skip.dependency}" was skipped`
    case 'limit':
      return `limit "${skip.limit}" had no slot`
    case 'operator':
      return 'by an operator'
  }
}
