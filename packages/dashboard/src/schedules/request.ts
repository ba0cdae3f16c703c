import { fieldsOf, reasonIn, takenFrom } from '../actions/request.ts'
import type { ScheduleActionRequest } from '../api/schedules.ts'
import { CAPABILITY_OF_SCHEDULE } from '../capabilities.ts'
import { badRequest } from '../problem.ts'

type Action = ScheduleActionRequest['action']

/** As much as a schedule keeps. */
const REASON_MAX = 1_000

const FIELDS: Readonly<Record<Action, readonly (keyof ScheduleActionRequest)[]>> = {
  fire: [],
  pause: ['reason'],
  resume: [],
  backfill: ['from', 'to'],
}

/** The action that a body asks for. Throws `RequestError` with status 400 for everything that it does not know. */
export function scheduleActionIn(body: unknown): ScheduleActionRequest {
  const given = fieldsOf(body)
  const { action } = given
  if (typeof action !== 'string' || !Object.hasOwn(CAPABILITY_OF_SCHEDULE, action)) {
    throw badRequest(`action is one of ${Object.keys(CAPABILITY_OF_SCHEDULE).join(', ')}.`)
  }
  const known = action as Action
  const dryRun = takenFrom(given, action, ['action', ...FIELDS[known]])
  return {
    action: known,
    dryRun,
    ...(known === 'pause' ? reasonIn(given['reason'], dryRun, REASON_MAX) : {}),
    ...(known === 'backfill'
      ? { from: instantIn('from', given['from']), to: instantIn('to', given['to']) }
      : {}),
  }
}

const INSTANT_MAX = 8.64e15

function instantIn(name: string, given: unknown): number {
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= INSTANT_MAX) return given
  throw badRequest(`${name} is an instant in epoch milliseconds.`)
}
