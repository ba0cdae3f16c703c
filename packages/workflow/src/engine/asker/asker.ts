import type { JsonText, Outcome } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import type { Cause } from '../../machine/records.ts'
import { nameOf } from '../../machine/shown.ts'
import type { Unit } from '../../machine/state.ts'
import {
  type Answered,
  type Ask,
  type Asker,
  type Code,
  type EndedChild,
  type Interruption,
  type Json,
  jsonOf,
  type Owned,
  type UnderWay,
} from '../../owner/index.ts'
import type { Store } from '../../store/index.ts'
import { messageOf } from '../../thrown.ts'
import { sentence } from '../../words.ts'
import { Attempt } from '../attempt/attempt.ts'
import type { AttemptParts } from '../attempt/attempt-parts.ts'
import { AttemptReports, type AttemptReportsParts } from '../attempt/attempt-reports.ts'
import { stepOf } from '../attempt/expansion.ts'
import { leaseLost, runStopping, workerStopping } from '../attempt/interruption.ts'
import { outageDelayMs } from '../base/backoff.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import { type AttemptEnd, type Deciding, decideOutcome, refOf } from '../decisions/decide.ts'
import { answerOf } from './answer-of.ts'
import { ChildStarts, type ChildStartsParts } from './child-starts.ts'
import { claimOf } from './claim-of.ts'
import { causeText, childError, errorOf, stored } from './errors.ts'
import { stepNumber } from './numbers.ts'
import { OwnedPayloads } from './payloads.ts'

export interface AttemptAskerParts
  extends AttemptReportsParts,
    Omit<ChildStartsParts, 'runtime' | 'store'>,
    Pick<AttemptParts<Attempt>, 'around'> {
  readonly runtime: Runtime
  readonly store: Store
  /** By the store’s numbers. */
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** Runs that this process owns. */
  readonly runOf: (id: string) => Owned | undefined
  /** Whether the lease is sure to last: no handler begins after it. */
  readonly mayBegin: () => boolean
  /** Whether errors are stored with their stacks. */
  readonly storeStacks: boolean
}

/** An answer, with the attempt that gave it. */
interface Reported {
  attempt?: Attempt
  end?: AttemptEnd
  /** Undefined if it has just completed. */
  outcome?: Outcome
}

/** Answers what a run asks with the code of its definition: each ask is one attempt. */
export class AttemptAsker implements Asker {
  readonly #parts: AttemptAskerParts
  readonly #attemptParts: AttemptParts<Attempt>
  readonly #children: ChildStarts
  readonly #reports: AttemptReports
  readonly #deciding: Deciding

  constructor(parts: AttemptAskerParts) {
    const { runtime, storeStacks, payloadMaxBytes, log, around, store, runOf, now } = parts
    this.#parts = parts
    this.#reports = new AttemptReports(parts)
    this.#children = new ChildStarts(parts)
    this.#deciding = { runtime, storeStacks }
    const payloads = new OwnedPayloads({
      ...{ store, runOf, now },
      definitionOf: (owned) => this.#definitionOf(owned),
      causeOf: (owned) => owned.causeText(this),
    })
    this.#attemptParts = {
      ...{ runtime, payloads, payloadMaxBytes, log, around, children: this.#children },
      onCall: (attempt) => this.#reports.begun(attempt),
      onLateResult: (attempt) => this.#reports.discarded(attempt, 'timed_out'),
      telling: { clock: runtime.clock, log, valuesMax: 0, valueMaxBytes: 0, onTold: notYet },
    }
  }

  #definitionOf(owned: Owned): WorkflowDefinition {
    return this.#parts.definitions.get(owned.code.definition)!
  }

  ask(ask: Ask): Answered | UnderWay {
    const attempt = this.#attemptOf(ask)
    if (isNotYet(attempt)) {
      const error = new PermanentError('Limits and transactional steps are not there yet.')
      return this.#answered(ask, attempt, { type: 'threw', error })
    }
    const preparing = attempt.prepare()
    const ending = preparing === undefined ? attempt.perform() : this.#prepared(attempt, preparing)
    if (!(ending instanceof Promise)) return this.#answered(ask, attempt, ending)
    return {
      answered: ending.then((end) => this.#answered(ask, attempt, end)),
      interrupt: (reason) => this.#interrupt(attempt, reason),
    }
  }

  #attemptOf(ask: Ask): Attempt {
    const definition = this.#definitionOf(ask.owned)
    const claim = claimOf(ask, definition)
    const attempt = new Attempt(claim, definition, this.#attemptParts, 'handed back')
    if (attempt.step.wait?.kind === 'child') this.#children.expect(claim, ask)
    // Whether it is wanted is a question of its own, which was answered before.
    if (ask.phase !== 'decide') attempt.goOn('decided')
    return attempt
  }

  /** Waits for the store as long as it takes: that its payloads cannot be read is no failure of a step. */
  async #prepared(attempt: Attempt, preparing: Promise<void>): Promise<AttemptEnd> {
    const { runtime, log } = this.#parts
    for (let tries = 1, reading: Promise<void> | undefined = preparing; reading !== undefined; tries += 1) {
      try {
        await reading
        break
      } catch (error) {
        if (attempt.isInterrupted || (BelayError.is(error) && error.code === 'unknown_run'))
          return { type: 'given_up' }
        const retryMs = outageDelayMs(tries, runtime.random)
        log.warn('Payloads of a step could not be read. It is tried again.', {
          runId: attempt.claim.runId,
          error,
          retryMs,
        })
        await pause(runtime.clock, retryMs)
        reading = attempt.prepare()
      }
    }
    // The process may have been frozen meanwhile: then somebody else goes on with the run.
    return this.#parts.mayBegin() ? attempt.perform() : { type: 'given_up' }
  }

  #interrupt(attempt: Attempt, reason: Interruption): void {
    if (reason === 'aborted') return attempt.interrupt(runStopping(attempt.claim.runId))
    if (reason === 'stopping') return attempt.interrupt(workerStopping())
    attempt.interrupt(leaseLost(attempt))
    attempt.cutOff.cut()
  }

  #answered(ask: Ask, attempt: Attempt, end: AttemptEnd): Answered {
    attempt.decided()
    const answer = this.#answerOf(ask, attempt, end)
    answer.attempt = attempt
    answer.end = end
    return answer
  }

  #answerOf(ask: Ask, attempt: Attempt, end: AttemptEnd): Answered & Reported {
    const { unit, serial, phase } = ask
    // What nearly all answers are, without the objects between.
    if (end.type === 'returned' && phase === 'run' && attempt.step.cases === null)
      return { type: 'done', unit: unit.no, serial, output: jsonOf(end.output) }
    const child = this.#children.childOf(attempt.claim)
    const outcome = this.#outcomeOf(attempt, end)
    const answer = answerOf(outcome, { ask, now: this.#parts.now(), child })
    if (end.type === 'threw' && end.interrupted === 'run_stopping' && answer.type === 'failed')
      return { ...answer, interrupted: true, retryAt: undefined, outcome }
    return Object.assign(answer, { outcome })
  }

  #outcomeOf(attempt: Attempt, end: AttemptEnd): Outcome {
    const { claim, step } = attempt
    // Its handler was not called, so there is nothing to undo.
    if (end.type === 'given_up' && !attempt.isBegun)
      return { ...refOf(claim), type: 'released', begun: false }
    const deciding =
      end.type === 'threw' ? { ...this.#deciding, failingMs: attempt.failingMs } : this.#deciding
    return decideOutcome(claim, step, end, deciding)
  }

  recorded({ attempt, end, outcome }: Answered & Reported, counts: boolean): void {
    if (attempt === undefined || end === undefined) return
    if (!counts) return this.#reports.discarded(attempt, 'lease_lost')
    const hasFailed = end.type === 'threw' || end.type === 'unstorable'
    if (hasFailed) this.#reports.failed(attempt, end)
    if (hasFailed || this.#reports.areHeard)
      this.#reports.settled(attempt, outcome ?? this.#outcomeOf(attempt, end))
  }

  killsMax(unit: Unit, { definition }: Code): number {
    const known = this.#parts.definitions.get(definition)!
    return stepOf(known, stepNumber(known, unit, 'run')).lossesMax
  }

  unstorable(owned: Owned, no: number, cause: unknown): Json {
    const step = nameOf(owned.run.units[no]!)
    const error = new BelayError(
      'payload_unserialisable',
      `Output of step "${step}" of run ${owned.id} cannot be stored: ${sentence(messageOf(cause))} Return plain data: objects, arrays, strings, numbers, booleans, null.`,
      { runId: owned.id, step },
    )
    return stored(error, this.#parts.storeStacks)
  }

  errorOf(owned: Owned, unit: Unit, word: string): Json {
    return stored(errorOf({ owned, unit }, word), this.#parts.storeStacks)
  }

  childError(owned: Owned, unit: Unit, child: EndedChild): Json {
    return stored(childError({ owned, unit }, child), this.#parts.storeStacks)
  }

  causeOf(owned: Owned, cause: Cause): JsonText {
    return causeText(owned, cause)
  }
}

function isNotYet({ step, claim }: Attempt): boolean {
  const transaction = claim.direction === 'undo' ? step.compensation?.transaction : step.transaction
  return step.limits !== null || transaction != null
}

/** The store of the new engine has no values. */
function notYet(): never {
  throw new PermanentError('Values, progress and the details of heartbeats are not there yet.')
}
