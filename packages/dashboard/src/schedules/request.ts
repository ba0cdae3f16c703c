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
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badRequest('The body is an object with action and dryRun.')
  }
  const given = body as Readonly<Record<string, unknown>>
  const { action, dryRun } = given
  if (typeof action !== 'string' || !Object.hasOwn(CAPABILITY_OF_SCHEDULE, action)) {
    throw badRequest(`action is one of ${Object.keys(CAPABILITY_OF_SCHEDULE).join(', ')}.`)
  }
  const known = action as Action
  const taken: readonly string[] = ['action', 'dryRun', ...FIELDS[known]]
  const other = Object.keys(given).find((name) => !taken.includes(name))
  if (other !== undefined) {
    throw badRequest(`${action} takes no ${JSON.stringify(other.slice(0, 60))}, but ${taken.join(', ')}.`)
  }
  if (typeof dryRun !== 'boolean') throw badRequest('dryRun is true or false.')
  return {
    action: known,
    dryRun,
    ...(known === 'pause' ? reasonIn(given['reason'], dryRun) : {}),
    ...(known === 'backfill'
      ? { from: instantIn('from', given['from']), to: instantIn('to', given['to']) }
      : {}),
  }
}

function reasonIn(reason: unknown, dryRun: boolean): { readonly reason?: string } {
  if (reason === undefined && dryRun) return {}
  const isText = typeof reason === 'string' && reason.length <= REASON_MAX
  if (isText && (dryRun || reason.trim() !== '')) return { reason }
  throw badRequest(`reason is a text of 1 to ${REASON_MAX} characters: the schedule keeps it.`)
}

const INSTANT_MAX = 8.64e15

function instantIn(name: string, given: unknown): number {
  if (typeof given === 'number' && Number.isInteger(given) && given >= 0 && given <= INSTANT_MAX) return given
  throw badRequest(`${name} is an instant in epoch milliseconds.`)
}
