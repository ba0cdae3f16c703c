import { type Claim, itemIndex, type JsonText, type NewItem, type StepPayloads } from '../../adapter/index.ts'
import type { Clock } from '../../clock.ts'
import type { StepContext } from '../../definition/handler.ts'
import type { EndedRound, Round, StepDefinition } from '../../definition/step.ts'
import { DURATION_MAX, type Duration, durationMs } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import { shown } from '../../shown.ts'
import { isThenable } from '../../thenable.ts'
import { presentable } from '../../thrown.ts'
import { counted } from '../../words.ts'
import { toJsonText } from '../base/payload.ts'
import { answerOf } from '../base/user-code.ts'
import type { AttemptEnd } from '../decisions/decide.ts'
import type { WaitAnswer, WaitStep } from '../decisions/decide-wait.ts'
import { type OutputOf, outputOwner, type PartsOfPayload } from './serialised-output.ts'

/** What a round's handler returned, and what follows. `error`: the effect is there, but what follows could not be decided. */
class EndOfRound {
  readonly output: unknown
  readonly next: { readonly delayMs: number } | { readonly error: unknown } | null

  constructor(output: unknown, next: EndOfRound['next']) {
    this.output = output
    this.next = next
  }
}

type RoundAttempt = OutputOf & { readonly step: Pick<StepDefinition, 'name'> }

/**
 * The handler of a round, which then decides what follows. After the round's own handler has returned it does not throw: a retry would repeat the
 * effect.
 */
export function roundHandler(
  attempt: RoundAttempt,
  run: StepDefinition['run'],
  round: Round,
  clock: Clock,
): (context: StepContext) => unknown {
  return (context) => {
    const deciding = { attempt, round, context, clock }
    const returned = run?.(context)
    if (!isThenable(returned)) return whatFollows(deciding, returned)
    return Promise.resolve(returned).then((output) => whatFollows(deciding, output))
  }
}

/** The look at the child of a round, which decides what follows once the child has completed. It has no effect: an error is retried. */
export function childRound(attempt: RoundAttempt, round: Round, look: WaitCall, clock: Clock): WaitCall {
  return {
    type: 'call',
    handler: async (context) => {
      const answer = look.judge(await look.handler(context))
      if (answer.type !== 'output') return answer
      return whatFollows({ attempt, round, context, clock }, answer.value)
    },
    judge: (answer) =>
      answer instanceof EndOfRound ? { type: 'output', value: answer } : (answer as WaitAnswer),
  }
}

type WaitCall = Extract<WaitStep, { readonly type: 'call' }>

/** What decides whether another round follows. */
interface Deciding {
  readonly attempt: RoundAttempt
  readonly round: Round
  readonly context: StepContext
  readonly clock: Clock
}

function whatFollows(deciding: Deciding, output: unknown): EndOfRound | Promise<EndOfRound> {
  const { attempt, round, context } = deciding
  const ended: EndedRound = {
    output,
    round: itemIndex(attempt.claim.step) + 1,
    // A large input is parsed only if somebody reads it.
    get input() {
      return context.input
    },
    get deps() {
      return context.deps
    },
  }
  try {
    const answer = asked(deciding, 'until', () => round.until?.(ended))
    // Most answers are not promises, and a loop may have thousands of rounds.
    if (typeof answer === 'boolean' && (answer || typeof round.delay === 'number')) {
      return new EndOfRound(output, answer ? null : afterRound(attempt, round, ended, round.delay))
    }
    return decideLater(deciding, ended, answer)
  } catch (error) {
    return new EndOfRound(output, { error: presentable(error) })
  }
}

function asked({ attempt, clock }: Deciding, option: 'until' | 'delay', call: () => unknown): unknown {
  return answerOf(clock, `\`${option}\` of step "${attempt.step.name}" of run ${attempt.claim.runId}`, call)
}

async function decideLater(deciding: Deciding, ended: EndedRound, given: unknown): Promise<EndOfRound> {
  const { attempt, round } = deciding
  const { output } = ended
  try {
    const answer = await given
    if (typeof answer !== 'boolean') throw notBoolean(attempt, answer)
    if (answer) return new EndOfRound(output, null)
    // Refuses a round too many before its delay is asked for.
    afterRound(attempt, round, ended, 0)
    const { delay } = round
    const answered = typeof delay === 'number' ? delay : await asked(deciding, 'delay', () => delay(ended))
    return new EndOfRound(output, afterRound(attempt, round, ended, answered))
  } catch (error) {
    return new EndOfRound(output, { error: presentable(error) })
  }
}

function afterRound(
  { claim: { runId }, step: { name } }: RoundAttempt,
  { roundsMax }: Round,
  { round }: EndedRound,
  delay: unknown,
): { readonly delayMs: number } {
  if (round < roundsMax) {
    const what = `What delay of step "${name}" of run ${runId} returned`
    const delayMs = durationMs(delay as Duration, what)
    if (delayMs <= durationMs(DURATION_MAX, 'the longest duration')) return { delayMs }
    throw new PermanentError(`${what} is ${shown(delay)}, and the longest duration is ${DURATION_MAX}.`)
  }
  throw new BelayError(
    'rounds_exhausted',
    `Step "${name}" of run ${runId} was the last of ${counted(roundsMax, 'round')} allowed, and until has not returned true. Raise max, or let until end the loop earlier.`,
    { runId, step: name },
  )
}

function notBoolean({ step: { name } }: RoundAttempt, answer: unknown): PermanentError {
  return new PermanentError(
    `until of step "${name}" returned ${shown(answer)}, and must return true for the last round, or false.`,
  )
}

/** The end of an attempt in which a round's handler returned. `serialised` is the end with its output as JSON text. */
export function endOfRound(
  attempt: OutputOf,
  ended: unknown,
  serialised: (value: unknown) => AttemptEnd,
): AttemptEnd {
  const { output, next } = ended as EndOfRound
  if (next !== null && 'error' in next) return { type: 'unstorable', error: next.error }
  const end = serialised(output)
  if (next === null || end.type !== 'returned') return end
  return {
    type: 'repeats',
    output: end.output,
    nextItem: itemAfter(attempt.claim, end.output),
    delayMs: next.delayMs,
  }
}

function itemAfter({ step }: Claim, output: JsonText): NewItem {
  return { key: String(itemIndex(step) + 2), value: output }
}

/** The end of the attempt that ends a loop, given its last round, or its opener if that failed. */
export function loopEnd({
  failed,
  output,
  error,
}: Pick<StepPayloads, 'failed' | 'output' | 'error'>): AttemptEnd {
  return failed ? { type: 'loop_failed', error: error! } : { type: 'returned', output }
}

/** The end of an attempt that begins a loop. `last` is what its first round gets. */
export function firstRound(
  attempt: OutputOf,
  last: unknown,
  { payloadMaxBytes, log }: PartsOfPayload,
): AttemptEnd {
  const value = last === undefined ? null : toJsonText(last, payloadMaxBytes, () => outputOwner(attempt, log))
  return { type: 'expands', items: [{ key: '1', value }], atOnce: null }
}
