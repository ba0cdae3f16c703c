import type { ScheduleFiring } from '@belay/workflow'
import type { Firing } from '../api/schedules.ts'
import { withoutCredentials } from '../problem.ts'
import { sentence, type Texts } from '../view/texts.ts'

export function viewFiring(firing: ScheduleFiring, texts: Texts): Firing {
  const { sequence, scheduledAt, untilAt, cause, status, runId } = firing
  return {
    ...{ sequence, cause, status, runId },
    at: scheduledAt.getTime(),
    untilAt: untilAt?.getTime(),
    reason: reasonOf(firing, texts),
  }
}

/** Why a firing failed is the text of an error, which may quote the input. All other reasons are the engine's own. */
export function reasonOf({ status, reason }: ScheduleFiring, texts: Texts): string | undefined {
  if (reason === undefined || status !== 'failed') return reason
  const told = texts.quote({ what: 'refusal', reason })
  return withoutCredentials(sentence(`It could not start a run: ${told}`))
}
