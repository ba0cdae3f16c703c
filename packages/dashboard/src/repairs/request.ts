import { fieldsOf, priorityIn, reasonIn, stepIn } from '../actions/request.ts'
import type { RepairActionRequest, RepairRequest } from '../api/many.ts'
import { CAPABILITY_OF } from '../capabilities.ts'
import type { Capability } from '../capability.ts'
import { badRequest } from '../problem.ts'
import { ID } from '../served.ts'

type Verb = RepairRequest['verb']

const RUNS_MAX = 1_000
const QUERY_MAX = 10_000
const WHICH = ['query', 'all', 'runs', 'insteadIn'] as const

/** What a verb takes beside the runs. */
const FIELD: Readonly<Record<Verb, 'step' | 'priority' | 'version' | undefined>> = {
  cancel: undefined,
  pause: undefined,
  resume: undefined,
  retry: undefined,
  retryCompensation: 'step',
  skipCompensation: 'step',
  setPriority: 'priority',
  move: 'version',
}

export function capabilityOf(verb: Verb): Capability {
  return verb === 'move' ? 'runs.move' : CAPABILITY_OF[verb]
}

/** The repair that a body asks for. Throws `RequestError` with status 400 for everything that it does not know. */
export function repairIn(body: unknown): RepairRequest {
  const given = fieldsOf(body)
  const { verb } = given
  if (!isVerb(verb)) throw badRequest(`verb is one of ${Object.keys(FIELD).join(', ')}.`)
  const field = FIELD[verb]
  assertOnly(given, ['verb', ...WHICH, ...(field === undefined ? [] : [field])])
  return {
    verb,
    ...whichIn(given),
    ...(field === 'step' ? { step: stepIn(given['step']) } : {}),
    ...(field === 'priority' ? { priority: priorityIn(given['priority']) } : {}),
    ...(field === 'version' ? { version: versionIn(given['version']) } : {}),
  }
}

/** What is to be done with a repair. */
export function repairActionIn(body: unknown): RepairActionRequest {
  const given = fieldsOf(body)
  const { action, reason } = given
  if (action === 'stop') {
    assertOnly(given, ['action'])
    return { action }
  }
  if (action !== 'begin') throw badRequest('action is begin or stop.')
  assertOnly(given, ['action', 'reason'])
  return { action, ...reasonIn(reason, false) }
}

function assertOnly(given: Readonly<Record<string, unknown>>, taken: readonly string[]): void {
  const other = Object.keys(given).find((name) => !taken.includes(name))
  if (other === undefined) return
  throw badRequest(`There is no ${JSON.stringify(other.slice(0, 60))} here, but ${taken.join(', ')}.`)
}

function isVerb(verb: unknown): verb is Verb {
  return typeof verb === 'string' && Object.hasOwn(FIELD, verb)
}

function whichIn(given: Readonly<Record<string, unknown>>): Omit<RepairRequest, 'verb'> {
  const names = WHICH.filter((name) => given[name] !== undefined)
  if (names.length !== 1) throw badRequest(`Give one of ${WHICH.join(', ')}: which runs are meant.`)
  const { query, all, runs, insteadIn } = given
  switch (names[0]!) {
    case 'query':
      if (typeof query === 'string' && query !== '' && query.length <= QUERY_MAX) return { query }
      throw badRequest('The filter is empty, and would match every run. Narrow it, or ask for all.')
    case 'all':
      if (all === true) return { all }
      throw badRequest('all is true, or left out.')
    case 'runs':
      return { runs: idsIn(runs) }
    case 'insteadIn':
      if (typeof insteadIn === 'string' && ID.test(insteadIn)) return { insteadIn }
      throw badRequest('insteadIn is the id of a repair.')
  }
}

function idsIn(runs: unknown): readonly string[] {
  const isList = Array.isArray(runs) && runs.length > 0 && runs.length <= RUNS_MAX
  const isId = (one: unknown): one is string => typeof one === 'string' && ID.test(one)
  if (isList && runs.every(isId)) return [...new Set(runs.map((id) => id.toLowerCase()))]
  throw badRequest(`runs is a list of 1 to ${RUNS_MAX} ids of runs.`)
}

function versionIn(version: unknown): number {
  if (typeof version === 'number' && Number.isSafeInteger(version) && version > 0) return version
  throw badRequest('version is a whole number from 1.')
}
