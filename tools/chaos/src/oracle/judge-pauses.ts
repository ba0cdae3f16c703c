import { grouped } from '../grouped.ts'
import type { CallFacts, Facts } from './facts.ts'
import { summarised, type Violation } from './violation.ts'

/** No step begins in a run that was read as paused with no step running, until it is resumed. Undos may begin: a cancellation ends the pause. */
export function judgePauses({ pauses, calls, freezes }: Facts): {
  readonly violations: readonly Violation[]
  readonly exceptions: Readonly<Record<string, number>>
} {
  const byRun = grouped(
    calls.filter(({ undo }) => !undo),
    ({ runId }) => runId,
  )
  const begun: string[] = []
  let stopped = 0
  for (const { runId, pausedAt, resumedAt } of pauses) {
    for (const call of byRun.get(runId) ?? []) {
      if (call.beganAt <= pausedAt || (resumedAt !== null && call.beganAt >= resumedAt)) continue
      if (wasStoppedBefore(call, freezes)) stopped += 1
      else
        begun.push(
          `Run ${runId} was paused with no step running, but step ${call.step} began ${Math.round(call.beganAt - pausedAt)} ms later.`,
        )
    }
  }
  const exceptions =
    stopped === 0 ? {} : { 'steps of a paused run, begun by a process that was stopped before': stopped }
  return { violations: summarised('began_while_paused', begun), exceptions }
}

/** A stopped process still holds the steps that it got before the pause. If it begins them, the order of effects judges it. */
const JUST_BEFORE_MS = 1_000

function wasStoppedBefore({ worker, beganAt }: CallFacts, freezes: Facts['freezes']): boolean {
  return (freezes.get(worker) ?? []).some(({ from, to }) => from < beganAt && to > beganAt - JUST_BEFORE_MS)
}
