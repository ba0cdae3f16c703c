import type { JsonText, RunStatus } from '../../adapter/index.ts'
import type { RunCause } from '../../cause.ts'
import type { Cause } from '../../machine/records.ts'
import { nameOf } from '../../machine/shown.ts'
import type { Unit } from '../../machine/state.ts'
import { type EndedChild, Json, type Owned, textOf } from '../../owner/index.ts'
import { fromJsonText } from '../base/payload.ts'
import { attemptError } from '../base/stack-frames.ts'
import { serialiseError } from '../base/stored-error.ts'
import { decideChild } from '../decisions/decide-child.ts'
import { type Decision, rejectionOf } from '../decisions/decide-wait.ts'

// Errors that nobody has thrown, as they are stored.

interface Failing {
  readonly owned: Owned
  readonly unit: Unit
}

export function stored(error: unknown, stacks: boolean): Json {
  return new Json(JSON.stringify(serialiseError(error, { stacks })))
}

/** The error that the machine names with one word. */
export function errorOf({ owned, unit }: Failing, word: string): unknown {
  const step = nameOf(unit)
  const where = { runId: owned.id, step }
  if (word === 'rejected') {
    const decision = fromJsonText(owned.outputOf(unit.no) ?? null) as Decision | undefined
    if (decision !== undefined) return rejectionOf({ runId: owned.id, name: step }, decision)
    return attemptError('approval_rejected', `Step "${step}" of run ${owned.id} was rejected.`, where)
  }
  if (word === 'child_passed_its_pivot') {
    const what = `The child of step "${step}" of run ${owned.id} cannot be undone: it has passed its pivot.`
    return attemptError('child_failed', what, where)
  }
  if (word === 'child_failed') {
    const what = `Step "${step}" of run ${owned.id} could not start its child: another run has its key. Give each child a key of its own.`
    return attemptError('child_failed', what, where)
  }
  const what = `Step "${step}" of run ${owned.id} lost its worker too often and is not tried again: its handler may be what crashes the workers.`
  return attemptError('worker_lost', what, { ...where, attempt: unit.tries.attempt })
}

/** The error of a step whose child has not completed. */
export function childError({ owned, unit }: Failing, child: EndedChild): unknown {
  const where = { runId: owned.id, step: { name: nameOf(unit) } }
  const { id: runId, workflow, ended, cause } = child
  const state = { type: 'failed', runId, workflow, status: ended as RunStatus } as const
  const answer = decideChild(where, { ...state, cause: fromJsonText(cause) as RunCause | undefined })
  return answer.type === 'threw' ? answer.error : answer
}

/** Why a run stopped, as it is stored. */
export function causeText(owned: Owned, { cancelled, error, unit }: Cause): JsonText {
  const { run } = owned
  const failed = unit === undefined ? undefined : run.units[unit]
  if (cancelled !== undefined) {
    const reason = cancelled === '' ? undefined : cancelled
    return JSON.stringify({ type: 'cancelled', reason } satisfies RunCause)
  }
  if (failed === undefined) {
    const deadlineAt = new Date(run.deadlineAt ?? 0).toISOString()
    return JSON.stringify({ type: 'deadline', deadlineAt } satisfies RunCause)
  }
  const step = JSON.stringify(nameOf(failed))
  // A wait begins the count anew.
  const attempt = Math.max(1, failed.forward.attempt)
  const named =
    typeof error === 'string' ? stored(errorOf({ owned, unit: failed }, error), false) : (error as Json)
  return `{"type":"step_failed","step":${step},"attempt":${attempt},"error":${textOf(named)}}`
}
