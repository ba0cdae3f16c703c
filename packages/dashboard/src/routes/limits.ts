import { BelayError, type Engine, type LimitSnapshot, type RateSnapshot } from '@belay/workflow'
import { fieldsOf, reasonIn, takenFrom } from '../actions/request.ts'
import type { LimitActionRequest, LimitChange, LimitPage, LimitsPage } from '../api/limits.ts'
import type { ActionResult } from '../api.ts'
import { badRequest, notAllowed, notFound, withoutCredentials } from '../problem.ts'
import { bodyOfWrite } from '../security.ts'
import { type App, assertMay, type Call, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'

const LIMITS_MAX = 100
const LINES_MAX = { all: 10, one: 200 }
/** Each counts all steps that wait for it. */
const FRESH_MS = 5_000
const CHANGES_MAX = 20

/** Limits with their lines, and changes of them. */
export function routeLimits(app: App, served: Served): void {
  const changes = new Map<string, readonly LimitChange[]>()
  const read = (limit: LimitSnapshot, most: number) => limitPage(served, limit, most, changes)
  app
    .get('/api/limits', async (call) => {
      queryOf(call, [])
      return Response.json(await served.read(call, 'limits', () => allLimits(served.engine, read), FRESH_MS))
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .get('/api/limits/:name', async (call) => {
      queryOf(call, [])
      const limit = await known(served, call)
      const page = () => read(limit, LINES_MAX.one)
      return Response.json(await served.read(call, `limit ${limit.name}`, page, FRESH_MS))
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .post('/api/limits/:name/actions', async (call) => {
      queryOf(call, [])
      const request = requestIn(await bodyOfWrite(call.req.raw))
      assertMay(call, 'limits.set')
      const before = await known(served, call)
      if (request.dryRun) return Response.json(foreseen(before, request))
      const result = await change(served, before, request)
      if (result.changed) {
        const kept: LimitChange = {
          ...{ at: Date.now(), by: call.env.by, reason: request.reason!, sentence: result.sentence },
        }
        changes.set(before.name, [kept, ...(changes.get(before.name) ?? [])].slice(0, CHANGES_MAX))
      }
      served.shared.clear()
      return Response.json(result)
    })
    .all(() => {
      throw notAllowed('POST')
    })
}

async function known({ engine }: Served, { req }: Call): Promise<LimitSnapshot> {
  const limit = await engine.limits.get(req.param('name') ?? '')
  if (limit === undefined) throw notFound('No worker has declared a limit of this name.')
  return limit
}

async function allLimits(
  engine: Engine,
  read: (limit: LimitSnapshot, most: number) => Promise<LimitPage>,
): Promise<LimitsPage> {
  const [readAt, all] = await Promise.all([storeNow(engine), engine.limits.list()])
  const limits = await Promise.all(all.slice(0, LIMITS_MAX).map((limit) => read(limit, LINES_MAX.all)))
  return { readAt, limits, more: all.length > LIMITS_MAX }
}

async function limitPage(
  { engine, keys }: Served,
  limit: LimitSnapshot,
  most: number,
  changes: ReadonlyMap<string, readonly LimitChange[]>,
): Promise<LimitPage> {
  const { name, concurrency, rateLimit, declared, set, inUse, waiting, pushedBackUntil } = limit
  const lines = await engine.limits.lines(name, { limit: most + 1 })
  const known = await keys.of(
    engine,
    lines.flatMap(({ first }) => first?.runId ?? []),
  )
  return {
    ...{ name, inUse, waiting },
    slots: concurrency,
    rate: rateLimit,
    declared: set === undefined ? undefined : declared,
    pushedBackUntil: pushedBackUntil?.getTime(),
    lines: lines.slice(0, most).map(({ first, ...line }) => ({
      ...line,
      first: first && { runId: first.runId, runKey: known[first.runId], since: first.since.getTime() },
    })),
    more: lines.length > most,
    changes: changes.get(name) ?? [],
  }
}

const FIELDS = { set: ['limit'], reset: [] } as const
const LIMIT_MAX = 100_000

function requestIn(body: unknown): LimitActionRequest {
  const given = fieldsOf(body)
  const { action, reason, limit } = given
  if (action !== 'set' && action !== 'reset') throw badRequest('action is set or reset.')
  const dryRun = takenFrom(given, action, ['action', 'reason', ...FIELDS[action]])
  if (action === 'reset') return { action, dryRun, ...reasonIn(reason, dryRun) }
  if (!isWhole(limit, 0, LIMIT_MAX)) throw badRequest('limit is a whole number from 0 to 100,000.')
  return { action, dryRun, ...reasonIn(reason, dryRun), limit }
}

function isWhole(value: unknown, from: number, to: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to
}

async function change(
  { engine: { limits } }: Served,
  before: LimitSnapshot,
  request: LimitActionRequest,
): Promise<ActionResult> {
  try {
    const { name } = before
    const after =
      request.action === 'reset'
        ? await limits.reset(name)
        : await limits.set(name, settingOf(before, request))
    const [was, is] = [allowed(before), allowed(after)]
    if (was === is && (before.set === undefined) === (after.set === undefined)) {
      return { changed: false, sentence: `It allows ${is}: there was nothing to change.` }
    }
    return { changed: true, sentence: `It allowed ${was} and now allows ${is}${eachKey(after)}.` }
  } catch (error) {
    if (!BelayError.is(error) || error.code !== 'invalid_option') throw error
    return { changed: false, sentence: withoutCredentials(error.message), refused: error.code }
  }
}

function settingOf({ rateLimit }: LimitSnapshot, { limit = 0 }: LimitActionRequest) {
  if (rateLimit === undefined) return { concurrency: limit }
  return { rateLimit: { limit, per: rateLimit.perMs } }
}

/** The engine has no dry run for limits: this is what it says of them. */
function foreseen(before: LimitSnapshot, { action, limit = 0 }: LimitActionRequest): ActionResult {
  const { rateLimit, declared, set, inUse, waiting } = before
  if (action === 'reset' && set === undefined) {
    return { changed: false, sentence: 'Nothing was set: it allows what code declares.' }
  }
  const next =
    action === 'reset'
      ? settingText(declared ?? 0)
      : settingText(rateLimit === undefined ? limit : { ...rateLimit, limit })
  if (action === 'set' && set !== undefined && next === allowed(before)) {
    return { changed: false, sentence: `It allows ${next} already.` }
  }
  const closes = action === 'set' && limit === 0 ? ' Nobody would enter.' : ''
  const lasts = action === 'set' ? ' This would last until it is reset.' : ''
  return {
    changed: true,
    sentence: `It allows ${allowed(before)}, and would allow ${next}${eachKey(before)}, at once and on all workers. What runs goes on: ${inUse} in use, ${waiting} in line.${closes}${lasts}`,
  }
}

function allowed({ concurrency, rateLimit }: LimitSnapshot): string {
  return settingText(rateLimit ?? concurrency ?? 0)
}

function eachKey({ rateLimit }: LimitSnapshot): string {
  return rateLimit === undefined ? ' for each key' : ''
}

/** `20 slots`, `100 in each 1,000 ms`. */
function settingText(setting: number | RateSnapshot): string {
  if (typeof setting === 'number') return setting === 1 ? '1 slot' : `${setting} slots`
  return `${setting.limit} in each ${setting.perMs} ms`
}
