import type { RunHistoryEntry, WorkflowStep } from '@belay/workflow'
import type { HistoryEntry } from '../api.ts'

const STEPS_NAMED_MAX = 3

/** An entry without payloads: what changed is told in words, and a signal's payload is left out. Who decided, and why, is part of a decision. */
export function historyEntry(entry: RunHistoryEntry, graph: readonly WorkflowStep[]): HistoryEntry {
  const { at, action, step } = entry
  const isApproval = action === 'signal' && graph.find(({ name }) => name === step)?.kind === 'approval'
  const change = objectIn(entry.change)
  const by = entry.by ?? (isApproval ? textIn(change['by']) : undefined)
  const reason = entry.reason ?? (isApproval ? textIn(change['comment']) : undefined)
  return {
    at: at.getTime(),
    ...{ action, step, by, reason },
    change:
      action === 'signal' && !isApproval
        ? `received, with key ${entry.key}`
        : changeWords(change, isApproval),
  }
}

function changeWords(change: Fields, isApproval: boolean): string {
  if (isApproval) return change['approved'] === true ? 'approved' : 'rejected'
  const run = moved(change['status'])
  const steps = (Array.isArray(change['steps']) ? change['steps'] : []).map((one) => objectIn(one))
  const named = steps.slice(0, STEPS_NAMED_MAX).map((one) => `"${textIn(one['name'])}" ${moved(one)}`)
  const more = Number(change['moreSteps'] ?? 0) + steps.length - named.length
  const priority = moved(change['priority'])
  return [
    ...(run === '' ? [] : [run]),
    ...(priority === '' ? [] : [`priority ${priority}`]),
    ...named,
    ...(more > 0 ? [`${more} more ${more === 1 ? 'step' : 'steps'}`] : []),
  ].join(', ')
}

/** `waiting → paused`, from `{ from, to }`. */
function moved(change: unknown): string {
  const { from, to } = objectIn(change)
  return from === undefined || to === undefined ? '' : `${String(from)} → ${String(to)}`
}

type Fields = Readonly<Record<string, unknown>>

function objectIn(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
