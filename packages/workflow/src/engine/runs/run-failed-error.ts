import type { RunStatus } from '../../adapter/index.ts'
import { limitReached, type RunCause, type SerialisedError } from '../../cause.ts'
import { BelayError } from '../../errors.ts'
import { counted, sentence } from '../../words.ts'
import type { RunSnapshot } from './run-snapshot.ts'

/** The result of one step in the undo of a run. */
export interface UndoReport {
  readonly step: string
  /**
   * `compensated`: undone. `skipped`: an operator marked it as undone, with `skipCompensation()`. `compensation_failed`: its compensation failed
   * permanently. `waiting`: its undo waits for one that failed. `unknown`: not undone, and its effect is unknown, because it timed out, lost a
   * worker, or an operator gave it up. Check it by hand; with `compensateOn: 'started'` such steps are undone too. `succeeded`: took effect but was
   * not undone: its output could not be stored, and it has no compensation or the run was cancelled without an undo. `irreversible`: completed, and
   * its definition says that nothing can undo it. `kept`: its child completed, and keeps its effects (`compensate: false`).
   */
  readonly result:
    | 'compensated'
    | 'skipped'
    | 'compensation_failed'
    | 'waiting'
    | 'unknown'
    | 'succeeded'
    | 'irreversible'
    | 'kept'
  readonly error: SerialisedError | undefined
}

/** The error of `result()` for a run that did not complete. */
export class RunFailedError extends BelayError {
  override readonly name = 'RunFailedError'
  readonly status: RunStatus
  /** What stopped the run. */
  readonly reason: RunCause | undefined
  /** The undo, in the order of the definition. Steps with nothing to undo are left out. */
  readonly undo: readonly UndoReport[]

  constructor(run: RunSnapshot) {
    const undo = undoReport(run)
    super('run_failed', `${headline(run)} ${undoLine(run.status, undo)}`, {
      runId: run.id,
      step: run.cause?.type === 'step_failed' ? run.cause.step : undefined,
      attempt: run.cause?.type === 'step_failed' ? run.cause.attempt : undefined,
      cause: run.cause?.type === 'step_failed' ? run.cause.error : undefined,
    })
    this.status = run.status
    this.reason = run.cause
    this.undo = undo
  }

  static override is(value: unknown): value is RunFailedError {
    return BelayError.is(value) && value.code === 'run_failed'
  }
}

/**
 * What was undone of a stopped run, and what could not be, of a run as `runs.get()` answers it, in the order of the definition. Steps with nothing to
 * undo are left out.
 */
export function undoReport(run: RunSnapshot): readonly UndoReport[] {
  const undone = new Set(run.steps.filter(({ status }) => status === 'compensated').map(({ name }) => name))
  return run.steps.flatMap((step): UndoReport[] => {
    const { name, status, error, losses, succeeded, irreversible, kept, undo } = step
    if (kept) return [{ step: name, result: 'kept', error: undefined }]
    switch (status) {
      case 'completed':
        return irreversible ? [{ step: name, result: 'irreversible', error: undefined }] : []
      case 'failed':
      case 'cancelled':
        if (succeeded) return undone.has(openerOf(step)) ? [] : [{ step: name, result: 'succeeded', error }]
        // An attempt that lost its worker may have had an effect, even if a later attempt failed.
        return losses > 0 || UNKNOWN_OUTCOMES.has(error?.code ?? '')
          ? [{ step: name, result: 'unknown', error }]
          : []
      case 'compensated':
        return [{ step: name, result: undo?.skipped ? 'skipped' : status, error: undefined }]
      case 'compensation_failed':
        return [{ step: name, result: status, error: undo?.error }]
      case 'compensating':
        return [{ step: name, result: 'waiting', error: undefined }]
      default:
        return []
    }
  })
}

/** The step that decided an item: if that was undone, it undid all items that took effect. Of any other step, its own name. */
function openerOf({ name, itemKey }: RunSnapshot['steps'][number]): string {
  return itemKey === undefined ? name : `${name.slice(0, -itemKey.length - 1)}]`
}

/** Errors after which the effect of an attempt is unknown. */
const UNKNOWN_OUTCOMES: ReadonlySet<string> = new Set([
  'step_timeout',
  'heartbeat_timeout',
  'worker_lost',
  'outcome_unknown',
])

function headline(run: RunSnapshot): string {
  const who = `Run ${run.id} of "${run.workflow}" (version ${run.version})`
  if (run.cause?.type === 'deadline') return `${who} had not ended by its deadline, ${run.cause.deadlineAt}.`
  if (run.cause?.type === 'limit_reached') return sentence(`${who} was cancelled: ${limitReached(run.cause)}`)
  if (run.cause?.type !== 'step_failed') {
    const reason = run.cause?.reason
    return sentence(`${who} was cancelled${reason === undefined ? '' : `: ${reason}`}`)
  }
  const { step, attempt, error } = run.cause
  return sentence(
    `${who} failed: step "${step}" gave up after ${counted(attempt, 'attempt')} with ${error.name}: ${error.message}`,
  )
}

function undoLine(status: RunStatus, undo: readonly UndoReport[]): string {
  const named = (wanted: UndoReport['result']) =>
    undo.filter(({ result }) => result === wanted).map(({ step }) => `"${step}"`)
  const [unknown, succeeded, irreversible] = [named('unknown'), named('succeeded'), named('irreversible')]
  const kept = named('kept')
  const known = undo.filter(({ result }) => !NOT_UNDONE.has(result))
  const lines = [knownLine(status, known)]
  if (unknown.length > 0) lines.push(`What ${unknown.join(', ')} did is unknown, and was not undone.`)
  if (succeeded.length > 0) lines.push(`What ${succeeded.join(', ')} did took effect, and was not undone.`)
  if (irreversible.length > 0) lines.push(`What ${irreversible.join(', ')} did cannot be undone, and stays.`)
  if (kept.length > 0) lines.push(`What the children of ${kept.join(', ')} did is kept.`)
  return lines.join(' ')
}

const NOT_UNDONE: ReadonlySet<UndoReport['result']> = new Set([
  'unknown',
  'succeeded',
  'irreversible',
  'kept',
])

function knownLine(status: RunStatus, undo: readonly UndoReport[]): string {
  const count = (result: UndoReport['result']) => undo.filter((entry) => entry.result === result).length
  if (status === 'compensation_failed') {
    const failed = undo
      .filter((entry) => entry.result === 'compensation_failed')
      .map(({ step }) => `"${step}"`)
    return `Its undo is parked: that of ${failed.join(', ')} failed; ${count('compensated')} undone${count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`}, ${count('waiting')} waiting. An operator must repair it.`
  }
  if (undo.length === 0) return 'Nothing had to be undone.'
  const skipped = undo.filter(({ result }) => result === 'skipped').map(({ step }) => `"${step}"`)
  const byHand = skipped.length === 0 ? '' : ` An operator marked ${skipped.join(', ')} as undone.`
  return `Undone: ${count('compensated')} of ${undo.length}.${byHand}`
}
