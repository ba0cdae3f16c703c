import { parseExactJson } from '@belay/workflow'
import type { ActionRequest } from '../api.ts'
import { CAPABILITY_OF, isVerb } from '../capabilities.ts'
import { badRequest } from '../problem.ts'

type Verb = ActionRequest['verb']
type Field = 'step' | 'payload' | 'priority' | 'reason'

const REASON_MAX = 2_000
const STEP_MAX = 600

/** What a verb takes. */
const FIELDS: Readonly<Record<Verb, readonly Field[]>> = {
  cancel: ['reason'],
  pause: ['reason'],
  resume: ['reason'],
  retry: ['reason'],
  retryStep: ['step', 'reason'],
  skipStep: ['step', 'payload', 'reason'],
  retryCompensation: ['step', 'reason'],
  skipCompensation: ['step', 'reason'],
  signal: ['step', 'payload'],
  approve: ['step', 'payload', 'reason'],
  reject: ['step', 'reason'],
  setPriority: ['priority', 'reason'],
}

/** The action that a body asks for. Throws `RequestError` with status 400 for everything that it does not know, also who acts: that is not the body's. */
export function actionIn(body: unknown): ActionRequest {
  const given = fieldsOf(body)
  const { verb, reason } = given
  if (!isVerb(verb)) throw badRequest(`verb is one of ${Object.keys(CAPABILITY_OF).join(', ')}.`)
  const dryRun = takenFrom(given, verb, ['verb', ...FIELDS[verb]])
  return {
    verb,
    dryRun,
    ...(FIELDS[verb].includes('reason') ? reasonIn(reason, dryRun) : {}),
    ...(FIELDS[verb].includes('step') ? { step: stepIn(given['step']) } : {}),
    ...(given['payload'] === undefined ? {} : { payload: jsonIn(given['payload']) }),
    ...(verb === 'setPriority' ? { priority: priorityIn(given['priority']) } : {}),
  }
}

/** The fields of a body. Throws `RequestError` with status 400 for a body that is no object. */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest('The body is an object.')
  return body as Readonly<Record<string, unknown>>
}

/** Whether it is a dry run. Throws `RequestError` with status 400 for a field that this verb does not take. */
export function takenFrom(
  given: Readonly<Record<string, unknown>>,
  verb: string,
  fields: readonly string[],
): boolean {
  const { dryRun } = given
  const taken = [...fields, 'dryRun']
  const other = Object.keys(given).find((name) => !taken.includes(name))
  if (other !== undefined) {
    throw badRequest(`${verb} takes no ${JSON.stringify(other.slice(0, 60))}, but ${taken.join(', ')}.`)
  }
  if (typeof dryRun !== 'boolean') throw badRequest('dryRun is true or false.')
  return dryRun
}

/** Throws `RequestError` with status 400 if what is to be done has no reason. */
export function reasonIn(reason: unknown, dryRun: boolean, max = REASON_MAX): { readonly reason?: string } {
  if (reason === undefined && dryRun) return {}
  const isText = typeof reason === 'string' && reason.length <= max
  if (isText && (dryRun || reason.trim() !== '')) return { reason }
  throw badRequest(`reason is a text of 1 to ${max} characters: why it is done.`)
}

export function stepIn(step: unknown): string {
  if (typeof step === 'string' && step !== '' && step.length <= STEP_MAX) return step
  throw badRequest(`step is the name of a step, of up to ${STEP_MAX} characters.`)
}

export function jsonIn(payload: unknown): string {
  if (typeof payload !== 'string') throw badRequest('payload is JSON as text.')
  try {
    parseExactJson(payload)
    return payload
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(error.message)
    throw badRequest('payload is not JSON. A text takes double quotes, like "yes".')
  }
}

export function priorityIn(priority: unknown): number {
  if (typeof priority === 'number' && Number.isInteger(priority) && priority >= 0 && priority <= 1_000) {
    return priority
  }
  throw badRequest('priority is a whole number from 0 to 1,000.')
}
