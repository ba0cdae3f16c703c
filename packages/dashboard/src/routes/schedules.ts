import { BelayError, type ScheduleSnapshot } from '@belay/workflow'
import type {
  ScheduleActionRequest,
  ScheduleActionResult,
  SchedulePage,
  SchedulesPage,
} from '../api/schedules.ts'
import { CAPABILITY_OF_SCHEDULE } from '../capabilities.ts'
import { badRequest, notAllowed, notFound, withoutCredentials } from '../problem.ts'
import { onlyOne, wholeNumber } from '../query.ts'
import { actOnSchedule, foreseeSchedule } from '../schedules/act.ts'
import { scheduleActionIn } from '../schedules/request.ts'
import { viewFiring } from '../schedules/view-firing.ts'
import { type Calendar, listedSchedule, viewSchedule } from '../schedules/view-schedule.ts'
import { bodyOfWrite } from '../security.ts'
import { type App, assertMay, type Call, queryOf, type Served } from '../served.ts'
import { storeNow } from '../store-now.ts'
import { sentence, type Texts, textsFor } from '../view/texts.ts'
import { findingsOf } from './overview.ts'

const PAGE_DEFAULT = 20
const PAGE_MAX = 50
const HOUR_MS = 3_600_000
const BEHIND_MS = 12 * HOUR_MS
const AHEAD_MS = 48 * HOUR_MS
/** Schedules that are read at once: a page must not take all connections of a worker in the same process. */
const LANES = 3
/** Explaining locks the schedule for a moment. */
const ONE_FRESH_MS = 2_000
const FIRINGS_MAX = 100

export function routeSchedules(app: App, served: Served): void {
  app
    .get('/api/schedules', async (call) => {
      const filter = filterOf(call)
      const key = `schedules ${JSON.stringify(filter)}`
      return Response.json(await served.read(call, key, (texts) => pageOf(served, filter, texts)))
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .get('/api/schedules/:name', async (call) => {
      queryOf(call, [])
      const name = call.req.param('name')
      const read = (texts: Texts) => onePage(served, name, texts)
      const page = await served.read(call, `schedule ${name}`, read, ONE_FRESH_MS)
      return Response.json(page)
    })
    .all(() => {
      throw notAllowed('GET')
    })
  app
    .post('/api/schedules/:name/actions', async (call) => {
      queryOf(call, [])
      const request = scheduleActionIn(await bodyOfWrite(call.req.raw))
      assertMay(call, CAPABILITY_OF_SCHEDULE[request.action])
      const schedule = await foundSchedule(served, call.req.param('name'))
      const texts = textsFor(call.env.can.has('payloads.read'), served.settings.redact)
      return Response.json(await answerTo(served, schedule, request, texts))
    })
    .all(() => {
      throw notAllowed('POST')
    })
}

function filterOf(call: Call) {
  const query = queryOf(call, ['workflow', 'paused', 'after', 'limit'])
  const [workflow, after] = [onlyOne('workflow', query.workflow), onlyOne('after', query.after)]
  const paused = onlyOne('paused', query.paused)
  if (paused !== undefined && paused !== 'true' && paused !== 'false') {
    throw badRequest('paused is true or false.')
  }
  const limit = wholeNumber('limit', onlyOne('limit', query.limit)) ?? PAGE_DEFAULT
  if (limit < 1 || limit > PAGE_MAX) throw badRequest(`limit is a whole number from 1 to ${PAGE_MAX}.`)
  return {
    ...(workflow === undefined ? {} : { workflow }),
    ...(paused === undefined ? {} : { paused: paused === 'true' }),
    ...(after === undefined ? {} : { after }),
    limit,
  }
}

async function pageOf(
  served: Served,
  filter: ReturnType<typeof filterOf>,
  texts: Texts,
): Promise<SchedulesPage> {
  const { engine } = served
  const [found, readAt, { findings }] = await Promise.all([
    engine.schedules.list({ ...filter, limit: filter.limit + 1 }),
    storeNow(engine),
    findingsOf(served, texts),
  ])
  const calendar: Calendar = { from: readAt - BEHIND_MS, until: readAt + AHEAD_MS }
  const listed = found.slice(0, filter.limit)
  const schedules = await inLanes(listed, (one) => listedSchedule(served, one, calendar, texts))
  return {
    readAt,
    ...calendar,
    schedules,
    more: found.length > filter.limit,
    findings: findings.flatMap(({ type, message, remedy }) =>
      FINDINGS.has(type) ? [withoutCredentials(`${message} ${remedy}`)] : [],
    ),
  }
}

const FINDINGS: ReadonlySet<string> = new Set([
  'late_schedules',
  'failing_schedules',
  'schedule_without_worker',
])

async function inLanes<Item, Answer>(
  items: readonly Item[],
  each: (item: Item) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (let first = 0; first < items.length; first += LANES) {
    answers.push(...(await Promise.all(items.slice(first, first + LANES).map(each))))
  }
  return answers
}

async function foundSchedule({ engine }: Served, name: string): Promise<ScheduleSnapshot> {
  const schedule = await engine.schedules.get(name)
  if (schedule === undefined) throw notFound('No schedule has this name.')
  return schedule
}

async function onePage(served: Served, name: string, texts: Texts): Promise<SchedulePage> {
  const schedule = await foundSchedule(served, name)
  const { engine } = served
  const [readAt, { summary }, times, firings, runs] = await Promise.all([
    storeNow(engine),
    engine.schedules.explain(name),
    engine.schedules.preview(name),
    engine.schedules.history(name, { limit: FIRINGS_MAX }),
    runsOf(served, name),
  ])
  const { overlap, catchUp, jitterMs, until, timeAs, tags } = schedule
  return {
    readAt,
    schedule: {
      ...viewSchedule(schedule),
      ...{ overlap, catchUp, jitterMs, timeAs, tags, until: until?.getTime(), firings: schedule.firings },
    },
    sentence: summary,
    times: times.map(({ scheduledAt, firesAt }) => ({
      at: scheduledAt.getTime(),
      firesAt: firesAt.getTime(),
    })),
    firings: firings.map((firing) => viewFiring(firing, texts)),
    runs,
  }
}

/** A schedule with a longer name does not tag its runs. */
const TAGGED_MAX = 191

async function runsOf({ engine }: Served, name: string): Promise<SchedulePage['runs']> {
  if (name.length > TAGGED_MAX) return []
  const runs = await engine.runs.list({ tags: [`schedule:${name}`], limit: FIRINGS_MAX })
  return runs.map(({ id, workflow, key, status }) => ({ id, workflow, key, status }))
}

async function answerTo(
  { engine, shared }: Served,
  schedule: ScheduleSnapshot,
  request: ScheduleActionRequest,
  texts: Texts,
): Promise<ScheduleActionResult> {
  try {
    return request.dryRun
      ? await foreseeSchedule(engine, schedule, request)
      : await actOnSchedule(engine, schedule, request, texts)
  } catch (error) {
    if (!BelayError.is(error) || !REFUSALS.has(error.code)) throw error
    return { changed: false, sentence: refusalOf(error, texts), refused: error.code }
  } finally {
    if (!request.dryRun) shared.clear()
  }
}

/** The engine's no is an answer: to a range, or to the input that the schedule keeps. */
const REFUSALS: ReadonlySet<string> = new Set([
  'invalid_option',
  'invalid_input',
  'payload_unserialisable',
  'payload_too_large',
  'unknown_workflow',
])

function refusalOf(error: BelayError, texts: Texts): string {
  const { code, message } = error
  // Of what was given here the viewer knows everything.
  if (code === 'invalid_option') return message.replace(/^schedules\.\w+\(\): /, '')
  return withoutCredentials(
    sentence(`No run was started: ${texts.quote({ what: 'refusal', reason: message })}`),
  )
}
