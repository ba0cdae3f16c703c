import type { Claim } from '../../adapter/index.ts'
import type { SerialisedError } from '../../cause.ts'
import type { RetryPolicy, StepDefinition } from '../../definition/step.ts'
import { durationText } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { attemptError, withoutStack } from '../base/stack-frames.ts'
import type { TimeLimit } from '../base/time-limit.ts'
import { noAnswer } from '../base/user-code.ts'

/** The attempt that an error is about. */
interface Subject {
  readonly claim: Claim
  readonly step: StepDefinition
}

/** Its handler did not end in time, or sent no heartbeat in time. */
export function timeoutError({ claim, step }: Subject, { ms, option, asks }: TimeLimit): BelayError {
  const { runId, attempt } = claim
  if (option === 'none') return unanswered({ claim, step }, asks, ms)
  if (option === 'heartbeatTimeout') {
    return attemptError(
      'heartbeat_timeout',
      `Step "${step.name}" of run ${runId} sent no heartbeat for ${durationText(ms)}, its \`heartbeatTimeout\`. Whether it took effect is unknown. Call \`heartbeat()\` more often, let the handler stop when its \`signal\` fires, or raise \`heartbeatTimeout\`.`,
      { runId, step: step.name, attempt },
    )
  }
  const within =
    option === 'timeout'
      ? `its timeout of ${durationText(ms)}`
      : `the ${durationText(ms)} that were left of its \`retry.for\``
  return attemptError(
    'step_timeout',
    `Step "${step.name}" of run ${runId} did not end within ${within}. Whether it took effect is unknown. Let the handler stop when its \`signal\` fires, or raise \`${option}\`.`,
    { runId, step: step.name, attempt },
  )
}

function unanswered({ claim, step }: Subject, asks: string | undefined, ms: number): BelayError {
  const { runId, attempt } = claim
  const what = `\`${asks}\` of step "${step.name}" of run ${runId}`
  return withoutStack(noAnswer(what, ms, { runId, step: step.name, attempt }))
}

/**
 * The retry was due before the end of `retry.for`, but a worker took it after the end. `last`: the error of the previous failed attempt, if known.
 */
export function retriesAreOver(
  { claim, step }: Subject,
  { forMs }: RetryPolicy,
  last: SerialisedError | undefined,
): BelayError {
  const { runId, attempt } = claim
  const failure = last === undefined ? '' : ` Its last failure was ${last.name}: ${last.message}.`
  return attemptError(
    'retry_window_over',
    `Step "${step.name}" of run ${runId} is not retried: when a worker took its next attempt, more than its \`retry.for\` (${durationText(forMs ?? 0)}) had passed since the first failed attempt began.${failure} Raise \`retry.for\`, or run more workers.`,
    { runId, step: step.name, attempt },
  )
}

/** Its run was pruned while the attempt waited for its payloads. */
export function runIsGone({ runId }: Claim): BelayError {
  return new BelayError('unknown_run', `Run ${runId} is not in the store any more.`, { runId })
}
