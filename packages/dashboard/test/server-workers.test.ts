import { define } from '@belay/workflow'
import { describe, expect, test, vi } from 'vitest'
import type { Holds, WorkersPage } from '../src/api/workers.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { planned, registered } from './setup/planned.ts'
import { gates, STATUSES } from './setup/statuses.ts'
import { testStore } from './setup/store.ts'

describe('workers', () => {
  test('those that need a look come first; versions that nobody can run, with what to do', async () => {
    const at = await planned()
    await registered(at, { name: 'orders-2', leaseS: 25, busy: 20 })
    await registered(at, { name: 'orders-1', leaseS: 25, busy: 17 })
    await registered(at, { name: 'labels-1', leaseS: -4, busy: 3 })
    await registered(at, { name: 'orders-0', status: 'dead', leaseS: -60 })
    const labels = define('render-labels', { version: 4 }).step('draw', { run: () => 1 })
    const caller = at.engine({ workflows: [labels] })
    const { id } = await caller.run(labels, undefined)
    const page = await read<WorkersPage>(opened({ engine: at.caller }, []), 'workers')
    expect(page.workers.map(({ name, status }) => [name, status])).toEqual([
      ['orders-0', 'dead'],
      ['labels-1', 'expired'],
      ['orders-1', 'live'],
      ['orders-2', 'live'],
    ])
    expect(page.counts).toEqual({ live: 2, expired: 1, dead: 1, slots: 40, busy: 37, capped: false })
    expect(page.workers[1]!.leaseExpiresAt!).toBeLessThan(page.readAt)
    expect(page.unserved).toMatchObject([{ workflow: 'render-labels', version: 4, runs: 1 }])
    expect(page.unserved[0]!.remedy).toMatch(/^Start a worker/)
    const listed = await read<{ runs: { id: string }[] }>(
      opened({ engine: at.caller }),
      `runs?${page.unserved[0]!.query}`,
    )
    expect(listed.runs.map((run) => run.id)).toEqual([id])
  })

  test('what a worker holds, with its runs and since when', async () => {
    const store = await testStore()
    const { running } = STATUSES
    const worker = store.engine({ workflows: [running], name: 'orders' })
    await worker.start()
    const run = await worker.run(running, undefined)
    const engine = store.engine()
    const [registered] = await vi.waitFor(async () => {
      const found = await engine.workers.list()
      expect((await engine.workers.holds(found[0]!.id)).length).toBe(1)
      return found
    }, 20_000)
    const holds = await read<Holds>(opened({ engine }, []), `workers/${registered!.id}/holds`)
    expect(holds.steps).toMatchObject([
      { runId: run.id, workflow: 'running', step: 'work', isUndo: false, attempt: 1 },
    ])
    expect(holds.more).toBe(false)
    gates.run.open()
    await run.result()
  })

  test('who is no worker holds nothing; nothing is written here', async () => {
    const engine = (await testStore()).engine()
    const handler = opened({ engine })
    expect(await read<WorkersPage>(handler, 'workers')).toMatchObject({ workers: [], unserved: [] })
    expect((await get(handler, 'workers/nobody/holds')).status).toBe(404)
    const id = '01a20ed2-e956-710f-9b00-026f0a2afc59'
    expect(await read<Holds>(handler, `workers/${id}/holds`)).toMatchObject({ steps: [], more: false })
    expect((await get(handler, 'workers?limit=9')).status).toBe(400)
    expect((await post(handler, 'workers', {})).status).toBe(405)
    expect((await post(handler, `workers/${id}/holds`, {})).status).toBe(405)
  })
})
