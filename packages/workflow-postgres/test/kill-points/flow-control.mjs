// Workflows under limits, rates and priorities, collected starts and schedules, and the application that starts them, in plain JavaScript: the killed
// worker runs them from the compiled packages, the finishing worker from their sources.
import { define, PermanentError, RetryLaterError } from '@belay/workflow'
import { PATIENT } from './patient.mjs'

/**
 * `spans` has a row for each call of a handler under each of its limits; a call whose process was killed has no end. `carried` has a row for each
 * collected call that a run's handler was given, `asked` one for each trigger that was asked for, with the run that its answer named.
 */
export const FLOW_TABLES = `
create table spans (began int default nextval('moments'), ended int, name text not null, lim text not null, key text not null, run_id uuid not null);
create table carried (name text not null, kind text not null, run_id uuid not null, call text not null);
create table asked (name text not null, trigger text not null, run_id uuid, primary key (name, trigger))`

const OVERLAPS = ['skip', 'queue', 'cancel-running', 'allow']
/** Leap days: they are in the past, and never soon. */
const LEAP_DAYS = { from: '2019-01-01T00:00:00Z', to: '2024-12-31T00:00:00Z' }
export const LEAP_DAYS_PASSED = 2
export const CALLS = { edits: 2, notices: 2, rows: 4 }

/** Workflows with unique names, so that only workers that know them take their steps. Their limits have unique names too. */
export function flowControl(name, pool) {
  const note = (key) => pool.query('insert into effects (key) values ($1) on conflict do nothing', [key])
  const isFirst = async (key) =>
    (await pool.query('insert into tries (key) values ($1) on conflict do nothing', [key])).rowCount === 1
  const effect = async ({ idempotencyKey }) => {
    await pool.query('insert into calls (key) values ($1)', [idempotencyKey])
    await note(idempotencyKey)
    return null
  }
  const spanning =
    (limits, work = effect) =>
    async (context) => {
      const held = limits.map((limit) => (typeof limit === 'string' ? [limit, ''] : limit(context)))
      const { rows } = await pool.query(
        `insert into spans (name, lim, key, run_id) select $1, l.lim, l.key, $4::uuid from unnest($2::text[], $3::text[]) l(lim, key)
         returning began`,
        [name, held.map(([lim]) => lim), held.map(([, key]) => key), context.runId],
      )
      const output = await work(context)
      await pool.query(`update spans set ended = nextval('moments') where began = any ($1::int[])`, [
        rows.map(({ began }) => began),
      ])
      return output
    }
  const carry = (kind) => async (context) => {
    const calls = Array.isArray(context.input) ? context.input : [context.input]
    await pool.query('insert into carried (name, kind, run_id, call) select $1, $2, $3, unnest($4::text[])', [
      ...[name, kind, context.runId],
      calls.map(({ call }) => call),
    ])
    return effect(context)
  }
  return {
    parcel: parcel(name, { spanning, effect, isFirst }),
    edits: collecting(`${name}-edits`, { debounce: '60ms', key: 'doc' }, carry('edits')),
    notices: collecting(`${name}-notices`, { throttle: '100ms', key: 'doc' }, carry('notices')),
    rows: collecting(`${name}-rows`, { batch: { max: 3, within: '100ms' } }, carry('rows')),
    ticks: Object.fromEntries([...OVERLAPS, 'seconds'].map((kind) => [kind, tick(name, kind, { effect })])),
  }
}

/** A run, a step, an item and a rate with a limit, a push-back, and an undo that frees what it holds. */
function parcel(name, { spanning, effect, isFirst }) {
  const ofCustomer = ({ input }) => ['customer', input.customer]
  const ofRun = ({ input }) => ['run', input.customer]
  const customer = ({ input }) => input.customer
  return define(`${name}-parcel`, {
    version: 1,
    ...PATIENT,
    priority: 3,
    concurrency: { limit: 1, key: customer },
  })
    .step('label', {
      concurrency: [
        { name: `${name}-printer`, limit: 1 },
        { key: customer, limit: 1 },
      ],
      run: spanning(['printer', ofCustomer, ofRun]),
      compensate: effect,
    })
    .map('pack', {
      dependsOn: ['label'],
      over: () => ['a', 'b'],
      concurrency: { name: `${name}-table`, limit: 1 },
      run: spanning(['table', ofRun]),
    })
    .step('mail', {
      dependsOn: ['pack'],
      priority: 2,
      concurrency: { name: `${name}-printer`, limit: 1 },
      rateLimit: { name: `${name}-mail`, limit: 50, per: '1s' },
      run: spanning(['printer', ofRun], async (context) => {
        if (await isFirst(context.idempotencyKey))
          throw new RetryLaterError({ after: '40ms', limit: `${name}-mail` })
        return effect(context)
      }),
    })
    .step('ship', {
      dependsOn: ['mail'],
      run: ({ input }) => {
        if (input.fails) throw new PermanentError('The parcel is lost.')
      },
    })
}

function collecting(name, start, run) {
  return define(name, { version: 1, ...PATIENT, start }).step('carry', { run })
}

/** A run that lasts for a moment, so that the next firing meets it. */
function tick(name, kind, { effect }) {
  return define(`${name}-${kind}`, { version: 1, ...PATIENT })
    .step('begin', { run: effect, compensate: effect })
    .sleep('wait', { dependsOn: ['begin'], for: '60ms' })
    .step('end', { dependsOn: ['wait'], run: effect })
}

export function workflowsOf({ ticks, ...workflows }) {
  return [...Object.values(workflows), ...Object.values(ticks)]
}

/** What the application does: it can do all of it again, and asks no trigger again whose answer it has noted. */
export async function applyFlow(engine, { name, pool, flow }) {
  const parcels = await startParcels(engine, flow)
  await tickEachSecond(engine, { name, flow })
  const collected = await collect(engine, flow)
  for (const overlap of OVERLAPS) await schedule(engine, { name, pool, flow, overlap })
  return { parcels, collected }
}

async function startParcels(engine, { parcel }) {
  const parcels = await engine.runMany(parcel, [
    { input: { customer: 'a' }, key: '1' },
    { input: { customer: 'a', fails: true }, key: '2', priority: 40 },
    { input: { customer: 'b' }, key: '3' },
  ])
  await engine.runs.setPriority(parcels[0].id, 7, { by: 'Ada' }).catch(unlessOver)
  return parcels
}

/** A run that has ended, or is being undone, keeps its priority. */
function unlessOver(error) {
  if (error.code !== 'action_refused') throw error
}

async function collect(engine, flow) {
  const starts = Object.entries(CALLS).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => ({ kind, call: `${kind}-${index + 1}` })),
  )
  const handles = starts.map(({ kind, call }) =>
    engine.run(flow[kind], { doc: 'x', call }, { key: call }).then(({ id }) => ({ kind, call, runId: id })),
  )
  return Promise.all(handles)
}

/** Twice, once each second. It is stopped after it was made, because only then it is known when it begins. */
async function tickEachSecond(engine, { name, flow }) {
  const named = `${name}-seconds`
  const options = { every: '1s', overlap: 'queue', catchUp: 'all', workflow: flow.ticks.seconds }
  const { nextAt, until } =
    (await engine.schedules.get(named)) ?? (await engine.schedules.put(named, options))
  if (until === undefined)
    await engine.schedules.put(named, { ...options, until: new Date(nextAt.getTime() + 1_000) })
}

async function schedule(engine, { name, pool, flow, overlap }) {
  const named = `${name}-${overlap}`
  await engine.schedules.put(named, { cron: '0 0 29 2 *', overlap, workflow: flow.ticks[overlap] })
  if (overlap === 'allow') {
    await engine.schedules.pause(named, { reason: 'a holiday' })
    await trigger(engine, { name, pool, overlap, nth: 1 })
    await engine.schedules.resume(named)
    await engine.schedules.backfill(named, LEAP_DAYS)
    return
  }
  await trigger(engine, { name, pool, overlap, nth: 1 })
  await trigger(engine, { name, pool, overlap, nth: 2 })
}

/** A trigger has no key: it is asked again if its answer was lost, and may then have fired twice. */
async function trigger(engine, { name, pool, overlap, nth }) {
  const named = [name, `${overlap} ${nth}`]
  const { rowCount } = await pool.query('select from asked where name = $1 and trigger = $2', named)
  if (rowCount === 1) return
  const { runId } = await engine.schedules.trigger(`${name}-${overlap}`)
  await pool.query('insert into asked (name, trigger, run_id) values ($1, $2, $3)', [...named, runId ?? null])
}

const LOOK_MS = 50

/** Waits until all runs have ended, and no schedule has anything to do. */
export async function flowIsOver(pool, name) {
  const open = `
    select from belay.workflow_runs where workflow like $1 || '-%' and finished_at is null
    union all select from belay.workflow_schedules where name like $1 || '-%' and due_at < now() + interval '1 day'`
  while ((await pool.query(open, [name])).rowCount > 0)
    // biome-ignore lint/style/noRestrictedGlobals: two processes wait for what each other does; only the database knows.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
}

/** The killed worker's part: its workflows, and its work until everything has ended. */
export function application(name, pool) {
  const flow = flowControl(name, pool)
  return {
    workflows: workflowsOf(flow),
    async work(engine) {
      await engine.start()
      await applyFlow(engine, { name, pool, flow })
      await flowIsOver(pool, name)
    },
  }
}
