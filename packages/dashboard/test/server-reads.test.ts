import { define, FAILED_STATUSES } from '@belay/workflow'
import pg from 'pg'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type {
  Health,
  ItemsPage,
  Overview,
  Payloads,
  Problem,
  Rows,
  RunCounts,
  RunPage,
  RunsPage,
  Session,
} from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, read } from './setup/calls.ts'
import { type Shop, shop } from './setup/shop.ts'
import { testStore } from './setup/store.ts'

const COURIER = 'no courier before'
const REFUNDS = 'refunds are closed'

let at: Shop
let all: DashboardHandler
let blind: DashboardHandler

beforeAll(async () => {
  at = await shop({ isShared: true })
  const engine = at.engine()
  all = opened({ engine })
  blind = opened({ engine }, ['runs.cancel'])
})

describe('reads', () => {
  test('the session tells who looks and what they may do', async () => {
    expect(await read<Session>(blind, 'session')).toMatchObject({
      ...{ by: 'ada', can: ['runs.cancel'], title: 'Belay' },
      statuses: { failed: FAILED_STATUSES, 'failed-only': ['failed'], undone: ['compensated'] },
    })
    expect((await read<Session>(all, 'session')).can).toContain('payloads.read')
  })

  test('the overview counts what needs somebody', async () => {
    const overview = await read<Overview>(all, 'overview')
    expect(overview).toMatchObject({
      parkedUndos: { count: 1, capped: false },
      approvals: { count: 1, capped: false },
      liveRuns: { waiting: { count: 2 } },
      workers: 1,
      findings: 1,
      otherFindings: 0,
    })
  })

  test('the list has the newest first, each with its strip and its sentence', async () => {
    const { runs, more } = await read<RunsPage>(all, 'runs')
    expect(runs.map(({ key }) => key)).toEqual(['order:9185', 'order:9184', 'order:9183', 'order:9182'])
    expect(more).toBe(false)
    expect(runs.map(({ why }) => why)).toEqual([
      'The undo of "chargeCard" failed for good, and waits for an operator.',
      expect.stringMatching(/^Undone after [\d.]+ m?s: "bookCourier" failed with Error: no courier/),
      expect.stringMatching(/^"approveOrder" waits for a decision/),
      expect.stringMatching(/^"shipped" waits for its signal/),
    ])
    expect(runs[3]!.steps.find(({ name }) => name === 'packItem')).toEqual({
      ...{ name: 'packItem', kind: 'map', status: 'completed' },
      items: { total: 3, ended: 3, failed: 0 },
    })
  })

  test('a sentence of the list says that no worker is there to go on', async () => {
    const store = await testStore()
    const waits = define('waits', { version: 1 }).step('a', { run: () => 1 })
    await store.engine().run(waits)
    const why = async () => {
      const { runs } = await read<RunsPage>(opened({ engine: store.engine() }), 'runs')
      return runs[0]!.why
    }
    const waiting = '"a" waits for a worker, a slot, or its next attempt.'

    expect(await why()).toBe(`${waiting} No worker is live: start one.`)
    await store.engine({ workflows: [define('other', { version: 1 }).step('a', { run: () => 1 })] }).start()
    expect(await why()).toBe(`${waiting} No live worker has its version: start one that has.`)
  })

  test('pages lead back and forth', async () => {
    const first = await read<RunsPage>(all, 'runs?limit=2')
    const last = first.runs.at(-1)!.id
    const next = await read<RunsPage>(all, `runs?limit=2&before=${last}`)
    const back = await read<RunsPage>(all, `runs?limit=2&after=${next.runs[0]!.id}`)
    expect([first.more, next.more, back.more]).toEqual([true, false, true])
    expect(back.runs.map(({ id }) => id)).toEqual(first.runs.map(({ id }) => id))
  })

  test('filters narrow the list, and counts take the same filters', async () => {
    const keys = async (query: string) =>
      (await read<RunsPage>(all, `runs?${query}`)).runs.map(({ key }) => key)
    expect(await keys('status=waiting&status=compensated')).toEqual([
      'order:9184',
      'order:9183',
      'order:9182',
    ])
    expect(await keys('key=order:9183&tag=tenant:7&workflow=fulfil-order&version=3')).toEqual(['order:9183'])
    expect(await keys('tag=tenant:8')).toEqual([])
    expect(await keys('key=order:918*')).toHaveLength(4)
    expect(await keys('key=order:918*&status=undone')).toEqual(['order:9184'])
    expect(await keys('key=order:919*')).toEqual([])
    expect(await keys('since=1h')).toHaveLength(4)
    expect(await keys('until=1h')).toEqual([])
    const counts = await read<RunCounts>(all, 'runs/counts?tag=tenant:7&since=1h')
    expect(counts).toMatchObject({ waiting: { count: 2 }, compensated: { count: 1 } })
  })

  test('the words of the screen are filters, and failed asks for all that did not do what they were for', async () => {
    const keys = async (query: string) =>
      (await read<RunsPage>(all, `runs?${query}`)).runs.map(({ key }) => key)
    expect(await keys('status=failed&since=1h')).toEqual(['order:9185', 'order:9184'])
    expect(await keys('status=failed-only')).toEqual([])
    expect(await keys('status=undone')).toEqual(['order:9184'])
    expect(await keys('status=undo%20parked')).toEqual(['order:9185'])
    expect(await keys('status=Undo+parked&status=Waiting')).toHaveLength(3)
  })

  test.each([
    ['status=wating', /No run has a status "wating". Did you mean "waiting"?/],
    ['status=undonne', /Did you mean "undone"?/],
    ['key=*', /how a key begins/],
    ['stauts=waiting', /no query "stauts"/],
    ['limit=101', /1 to 100/],
    ['limit=x', /whole number/],
    ['version=1&version=2', /once/],
    ['before=x', /before/],
    ['since=yesterday', /since/],
    [`key=${'k'.repeat(601)}`, /600 characters/],
  ])('%s is refused with a sentence', async (query, sentence) => {
    const response = await get(all, `runs?${query}`)
    expect(response.status).toBe(400)
    expect(((await response.json()) as Problem).message).toMatch(sentence)
  })

  test.each([
    ['id', (id: string) => id],
    ['the first 13 digits', (id: string) => id.slice(0, 18)],
    ['workflow and key', () => encodeURIComponent('fulfil-order/order:9185')],
    ['key', () => 'order:9185'],
  ])('a run is found by its %s', async (_, nameOf) => {
    const { id } = at.runs['order:9185']
    expect((await read<RunPage>(all, `runs/${nameOf(id)}`)).run.id).toBe(id)
  })

  test('several runs of one name are a conflict, and none is not found', async () => {
    const several = await get(all, `runs/${at.runs['order:9185'].id.slice(0, 8)}`)
    const none = await get(all, 'runs/order:1')
    expect([several.status, none.status]).toEqual([409, 404])
  })

  test('a run has its open steps with what may be done, and what this viewer may not do', async () => {
    const page = await read<RunPage>(blind, 'runs/order:9185')
    expect(page.effects).toEqual({ undone: 3, remain: 2, kept: 0, unknown: 0 })
    expect(page.open.find(({ step }) => step === 'chargeCard')?.actions).toEqual([
      { verb: 'retryCompensation', step: 'chargeCard', denied: true },
      { verb: 'skipCompensation', step: 'chargeCard', denied: true },
    ])
    const waiting = await read<RunPage>(blind, 'runs/order:9182')
    expect(waiting.actions).toEqual([
      { verb: 'pause', denied: true },
      { verb: 'cancel', denied: false },
      { verb: 'setPriority', denied: true },
    ])
    expect((await read<RunPage>(all, 'runs/order:9184')).actions).toEqual([{ verb: 'retry', denied: false }])
  })

  test('items of a map come by their index', async () => {
    const { id } = at.runs['order:9182']
    const page = await read<ItemsPage>(all, `runs/${id}/items?map=packItem&after=0`)
    expect(page.items.map(({ index, name }) => [index, name])).toEqual([
      [1, 'packItem[1]'],
      [2, 'packItem[2]'],
    ])
    expect(page.more).toBe(false)
    expect((await get(all, `runs/${id}/items?map=checkFraud`)).status).toBe(400)
  })

  test('the queries for psql run as they are', async () => {
    const { queries } = await read<Rows>(all, `runs/${at.runs['order:9185'].id}/rows`)
    const client = new pg.Client(at.url)
    await client.connect()
    try {
      const counts: number[] = []
      for (const { sql } of queries) counts.push((await client.query(sql)).rowCount!)
      expect(counts.slice(0, 2)).toEqual([1, 13])
    } finally {
      await client.end()
    }
  })

  test('health has the findings with their runs, and the workers', async () => {
    const health = await read<Health>(all, 'health')
    expect(health.findings).toMatchObject([{ type: 'parked_runs', runs: [at.runs['order:9185'].id] }])
    expect(health.workers).toMatchObject({ live: 1, expired: 0, dead: 0 })
    expect(health.overview.findings).toBe(1)
  })
})

test('five viewers cost one query, and those who see less have an answer of their own', async () => {
  const engine = at.engine()
  const lists = vi.spyOn(engine.runs, 'list')
  const handler = opened({ engine })
  await Promise.all(Array.from({ length: 5 }, () => read(handler, 'runs?status=waiting')))
  expect(lists).toHaveBeenCalledTimes(1)

  // One dashboard, two viewers.
  const shared = opened({
    engine,
    authorize: ({ headers }) => ({ by: 'ada', can: headers.has('x-blind') ? [] : 'all' }),
  })
  const path = `runs/${at.runs['order:9185'].id}`
  const [open, hidden] = await Promise.all([
    get(shared, path).then((response) => response.text()),
    get(shared, path, { headers: { 'x-blind': '1' } }).then((response) => response.text()),
  ])
  expect(open).toContain(REFUNDS)
  expect(hidden).not.toContain(REFUNDS)
})

test('a run names its parent, and the runs that it started', async () => {
  const store = await testStore()
  const child = define('child', { version: 1 }).waitForSignal('go', {})
  const parent = define('parent', { version: 1 }).workflow('delegate', child, {})
  const worker = store.engine({ workflows: [parent, child] })
  await worker.start()
  const { id } = await worker.run(parent, undefined, { key: 'p' })
  const handler = opened({ engine: store.engine() })
  const started = await vi.waitFor(async () => {
    const [found] = await worker.runs.list({ parentId: id })
    expect(found?.status).toBe('waiting')
    return found!
  }, 20_000)
  const above = await read<RunPage>(handler, 'runs/parent%2Fp')
  expect(above.children).toMatchObject([{ id: started.id, workflow: 'child', status: 'waiting' }])
  expect(above.run.steps).toMatchObject([{ name: 'delegate', kind: 'child', childId: started.id }])
  expect((await read<RunPage>(handler, `runs/${started.id}`)).parent).toMatchObject({ id, key: 'p' })
})

describe('payloads', () => {
  test('need their capability', async () => {
    const { id } = at.runs['order:9185']
    expect((await get(blind, `runs/${id}/payloads`)).status).toBe(403)
    const payloads = await read<Payloads>(all, `runs/${id}/payloads`)
    expect(JSON.parse(payloads.input!)).toMatchObject({ courier: 'none' })
    expect(payloads.steps.find(({ step }) => step === 'packItem[0]')?.output).toBe('"packed a"')
  })

  test('without it no read has a payload or the message of an error', async () => {
    const paths = ['runs', 'overview', 'health', 'runs/counts']
    for (const { id } of Object.values(at.runs)) paths.push(`runs/${id}`, `runs/${id}/items?map=packItem`)
    for (const path of paths) {
      const text = await (await get(blind, path)).text()
      for (const secret of [COURIER, REFUNDS, 'charge 9', 'packed', 'reservation 7']) {
        expect(text, path).not.toContain(secret)
      }
    }
    const { run, why } = await read<RunPage>(blind, 'runs/order:9185')
    expect(run.cause).toEqual({ type: 'step_failed', step: 'bookCourier', text: 'Error' })
    expect(why).toContain('failed for good (PermanentError [permanent]): retry')
  })

  test('with it errors have their messages', async () => {
    expect(await (await get(all, 'runs/order:9185')).text()).toContain(REFUNDS)
  })

  test('go through redact, each with its place', async () => {
    const places: unknown[] = []
    const handler = opened({
      engine: at.engine(),
      redact: (_, place) => {
        places.push(place)
        return place.what === 'error' ? { name: 'Error', message: 'hidden by the host' } : 'hidden'
      },
    })
    const { id } = at.runs['order:9185']
    const payloads = await read<Payloads>(handler, `runs/${id}/payloads`)
    expect(payloads.input).toBe('"hidden"')
    expect(places).toContainEqual({ what: 'input' })
    expect(places).toContainEqual({ what: 'output', step: 'chargeCard' })
    expect(places).toContainEqual({ what: 'error', step: 'chargeCard' })
    for (const path of [`runs/${id}`, 'runs', `runs/${id}/payloads`]) {
      const text = await (await get(handler, path)).text()
      expect(text, path).toContain('hidden by the host')
      expect(text, path).not.toMatch(/no courier|refunds are closed/)
    }
  })

  test('a redact that throws shows nothing', async () => {
    const handler = opened({
      engine: at.engine(),
      redact: () => {
        throw new Error('charge 9')
      },
    })
    const response = await get(handler, `runs/${at.runs['order:9185'].id}/payloads`)
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('charge 9')
  })
})

test('hostile names and texts pass through as JSON, and notes of progress are payloads', async () => {
  const XSS = '</script><img src=x onerror=alert(1)>'
  const store = await testStore()
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const wf = define('hostile', { version: 1 }).step('tell', {
    run: async ({ progress }) => {
      await progress(1, 2, `note ${XSS}`)
      await gate
      throw Object.assign(new Error(XSS), { name: 'Error' })
    },
    retry: false,
  })
  const worker = store.engine({ workflows: [wf] })
  await worker.start()
  const run = await worker.run(wf, { note: XSS }, { key: XSS, tags: [XSS] })
  const engine = store.engine()
  const [seen, unseen] = [opened({ engine }), opened({ engine }, [])]
  await expect.poll(async () => (await worker.explain(run.id)).steps[0]?.sentence).toContain('note')
  expect((await read<RunPage>(seen, `runs/${run.id}`)).open[0]?.sentence).toContain(`(note ${XSS})`)
  expect((await read<RunPage>(unseen, `runs/${run.id}`)).open[0]?.sentence).not.toContain('note')
  expect(await (await get(unseen, 'runs')).text()).not.toContain('note')
  release()
  await run.result().catch(() => {})
  // The shared reads of the running run are for a second.
  await expect.poll(async () => (await read<RunPage>(seen, `runs/${run.id}`)).run.status).toBe('failed')
  const response = await get(seen, `runs/${encodeURIComponent(XSS)}`)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  const page = (await response.json()) as RunPage
  expect(page).toMatchObject({ run: { key: XSS, cause: { text: `Error: ${XSS}` } }, tags: [XSS] })
  expect(await (await get(unseen, `runs/${run.id}`)).text()).not.toContain(`Error: ${XSS}`)
})

test('a run that was seen sends only the steps that have changed since', async () => {
  const store = await testStore()
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const wf = define('gated', { version: 1 })
    .step('first', { run: () => 1 })
    .step('second', { dependsOn: ['first'], run: () => gate })
    .step('third', { dependsOn: ['second'], run: () => 3 })
  const worker = store.engine({ workflows: [wf] })
  await worker.start()
  const run = await worker.run(wf)
  const all = opened({ engine: store.engine() })
  const blind = opened({ engine: store.engine() }, [])
  const path = `runs/${run.id}`
  const page = await vi.waitFor(async () => {
    const seen = await read<RunPage>(all, path)
    expect(seen.run.steps.map(({ status }) => status)).toEqual(['completed', 'running', 'pending'])
    return seen
  }, 20_000)
  expect(page.since).toBeUndefined()
  release()
  await run.result()
  const changes = await vi.waitFor(async () => {
    const answer = await read<RunPage>(all, `${path}?seen=${page.revision}`)
    expect(answer.run.status).toBe('completed')
    return answer
  }, 20_000)
  expect(changes.since).toBe(page.revision)
  expect(changes.run.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
    'second completed',
    'third completed',
  ])
  expect((await read<RunPage>(all, `${path}?seen=${changes.revision}`)).run.steps).toEqual([])
  // What another dashboard has sent is not known here.
  expect((await read<RunPage>(blind, `${path}?seen=${page.revision}`)).run.steps).toHaveLength(3)
  expect((await get(all, `${path}?seen=1&seen=2`)).status).toBe(400)
})
