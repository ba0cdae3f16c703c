import { attemptsOf, roundAt, roundOf, timesOf } from './attempts.ts'
import type { ViewRun, ViewStep } from './model.ts'
import { stateAt } from './state.ts'
import { safeText } from './text.ts'
import { clockText, dateText, span, zoneText } from './time.ts'
import { undoOrder } from './undo.ts'

/** The timeline as text, for an incident report: one line for each step and each undo, with the times of a zone (default UTC). */
export function timelineText(run: ViewRun, at = run.readAt, zone = 'UTC'): string {
  const round = roundAt(run, at)
  const { stoppedAt, drainedAt } = timesOf(run, round)
  const wide = Math.min(
    40,
    run.steps.reduce((most, { name }) => Math.max(most, name.length), 0),
  )
  const lineOf = (step: ViewStep, direction: 'forward' | 'undo', title: string) => {
    const begun = attemptsOf(step, direction, roundOf(step, round)).filter(({ startAt }) => startAt <= at)
    const { forward, undo } = stateAt(run, step, at, round)
    const time = begun[0] === undefined ? '   --   ' : clockText(begun[0].startAt, zone)
    const last = begun.at(-1)
    const count = Math.max(begun.length, last?.attempt ?? 0)
    const length =
      last?.endAt !== undefined && last.endAt <= at ? ` after ${span(last.endAt - begun[0]!.startAt)}` : ''
    const state = direction === 'forward' ? forward : (undo ?? 'nothing to undo')
    const error =
      state === 'failed' || state === 'parked'
        ? (last?.error ?? (direction === 'undo' ? step.undo?.error : step.error))
        : undefined
    const parts = [
      `${state}${begun.length > 0 ? length : ''}`,
      ...(count > 1 ? [`${count} attempts`] : []),
    ].join(', ')
    return `${time}  ${title}${step.name.padEnd(wide)}  ${parts}${error === undefined ? '' : `: ${error}`}`
  }
  const lines = [
    `Run ${run.key === undefined ? run.id : `${run.key} (${run.id})`} of ${run.workflow} version ${run.version}, as of ${dateText(at, zone)} ${zoneText(at, zone)}`,
    ...(round > 1 ? [`Round ${round}`] : []),
    '',
    ...run.steps.map((step) => lineOf(step, 'forward', '')),
  ]
  if (stoppedAt !== undefined && stoppedAt <= at) {
    lines.push('', `${clockText(stoppedAt, zone)}  stopped${causeText(run)}`)
    if (drainedAt !== undefined && drainedAt <= at)
      lines.push(`${clockText(drainedAt, zone)}  drained, the undo begins`)
    for (const { step, number } of undoOrder(run, round)) lines.push(lineOf(step, 'undo', `undo ${number} `))
  }
  return `${lines.map(safeText).join('\n')}\n`
}

function causeText({ cause }: ViewRun): string {
  if (cause === undefined) return ''
  const text = cause.text === undefined ? '' : ` (${cause.text})`
  if (cause.type === 'step_failed') return `: ${cause.step ?? 'a step'} failed for good${text}`
  if (cause.type === 'cancelled') return `: the run was cancelled${text}`
  return `: ${cause.type === 'deadline' ? 'its deadline passed' : 'it reached a limit'}${text}`
}
