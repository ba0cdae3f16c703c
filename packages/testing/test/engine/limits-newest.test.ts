import { define, defineGraph, type RunHandle, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

const customer = unchecked<{ customer: string }>()

/** A workflow of which only the newest `limit` runs of a customer count, with a slow second step. */
function newestOnly(sleep: (ms: number) => Promise<void>, limit = 1) {
  const undone: string[] = []
  const workflow = define('sync', {
    version: 1,
    input: customer,
    concurrency: { limit, key: ({ input }) => input.customer, atLimit: 'cancel-older' },
  })
    .step('reserve', { run: () => 'reserved', compensate: ({ runId }) => void undone.push(runId) })
    .step('work', { dependsOn: ['reserve'], run: () => sleep(10_000).then(() => 'worked') })
  return { workflow, undone }
}

describe('a workflow with atLimit cancel-older', () => {
  it('completes the last of three runs, and cancels those before it with their undo', async () => {
    const { clock, worker, sleep } = engines()
    const { workflow, undone } = newestOnly(sleep)
    const engine = await worker({ workflows: [workflow] })
    const acme = { customer: 'acme' }

    const first = await engine.run(workflow, acme)
    await clock.advance(100)
    const other = await engine.run(workflow, { customer: 'bell' })
    const second = await engine.run(workflow, acme)
    const third = await engine.run(workflow, acme)

    expect(await clock.runUntil(third.result())).toMatchObject({ work: 'worked' })
    expect(await clock.runUntil(other.result())).toMatchObject({ work: 'worked' })
    const error = await clock.runUntil(reasonOf(first))
    expect(error).toMatchObject({
      status: 'cancelled',
      reason: { type: 'limit_reached', limit: 'sync', key: 'acme' },
      message: expect.stringContaining(`limit "sync" had no slot for key "acme" besides the newer run `),
    })
    expect(await clock.runUntil(reasonOf(second))).toMatchObject({ status: 'cancelled' })
    expect(undone).toEqual([first.id])
    expect((await second.explain())?.sentence).toContain(`besides the newer run ${third.id}`)
    await clock.advance(10_000)
    expect(await engine.limits.get('sync')).toMatchObject({ inUse: 0, waiting: 0 })
  })

  it('keeps as many of the newest runs as it has slots', async () => {
    const { clock, worker, sleep } = engines()
    const { workflow } = newestOnly(sleep, 2)
    const engine = await worker({ workflows: [workflow] })
    const runs: RunHandle[] = []
    for (let nth = 0; nth < 4; nth += 1) {
      runs.push(await engine.run(workflow, { customer: 'acme' }))
      await clock.advance(500)
    }

    await clock.advance(60_000)

    expect(await Promise.all(runs.map(async (run) => (await run.status()).status))).toEqual([
      'cancelled',
      'cancelled',
      'completed',
      'completed',
    ])
  })

  it('leaves it to another worker to cancel older runs if the one that parked the newer run hangs', async () => {
    const { adapter, clock, worker, sleep } = engines()
    const { workflow } = newestOnly(sleep)
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow, { customer: 'acme' })
    await clock.advance(100)
    const find = adapter.findOlderRuns.bind(adapter)
    let lost = 0
    // The process that parks the step never comes to look.
    adapter.findOlderRuns = (request) => {
      if (request.lines.every(({ key }) => key === null)) return find(request)
      lost += 1
      return Promise.resolve([])
    }

    const second = await engine.run(workflow, { customer: 'acme' })

    expect(await clock.runUntil(second.result())).toMatchObject({ work: 'worked' })
    expect(lost).toBeGreaterThan(0)
    expect(await clock.runUntil(reasonOf(first))).toMatchObject({ status: 'cancelled' })
  })

  it('cancels an older run that is paused', async () => {
    const { clock, worker, sleep } = engines()
    const { workflow } = newestOnly(sleep)
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow, { customer: 'acme' })
    await clock.advance(100)
    await first.pause()

    const second = await engine.run(workflow, { customer: 'acme' })

    expect(await clock.runUntil(second.result())).toMatchObject({ work: 'worked' })
    expect(await clock.runUntil(reasonOf(first))).toMatchObject({ status: 'cancelled' })
  })

  it('lets a newer run wait for an older one whose pivot has completed', async () => {
    const { clock, worker, sleep } = engines()
    const ended: string[] = []
    const workflow = defineGraph(
      'transfer',
      {
        concurrency: { limit: 1, atLimit: 'cancel-older' },
        steps: { pay: { handler: 'pay', pivot: true }, tell: { handler: 'tell' } },
        dag: { tell: ['pay'] },
      },
      {
        pay: () => 'paid',
        tell: async ({ runId }) => {
          await sleep(5_000)
          ended.push(runId)
        },
      },
    )
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow)
    await clock.advance(100)

    const second = await engine.run(workflow)
    await clock.runUntil(second.result())

    expect(ended).toEqual([first.id, second.id])
    expect(statuses(await engine.runs.get(first.id))).toEqual({ pay: 'completed', tell: 'completed' })
  })

  it('an older run that is retried once the newer one has ended completes', async () => {
    const { clock, worker, sleep } = engines()
    const { workflow } = newestOnly(sleep)
    const engine = await worker({ workflows: [workflow] })
    const first = await engine.run(workflow, { customer: 'acme' })
    const second = await engine.run(workflow, { customer: 'acme' })
    await clock.runUntil(second.result())
    await clock.runUntil(reasonOf(first))

    await first.retry()

    expect(await clock.runUntil(first.result())).toMatchObject({ work: 'worked' })
  })

  it('is refused beside a workflow that does not say so of the same limit', async () => {
    const { worker } = engines()
    const one = define('one', {
      version: 1,
      concurrency: { limit: 1, name: 'shared', atLimit: 'cancel-older' },
    }).step('a', { run: () => 1 })
    const other = define('other', { version: 1 }).step('a', {
      concurrency: { limit: 1, name: 'shared' },
      run: () => 1,
    })

    await expect(worker({ workflows: [one, other] })).rejects.toThrow(
      `Limit "shared" says atLimit: 'cancel-older' in workflow "one" and not in workflow "other".`,
    )
  })
})

function reasonOf(run: RunHandle): Promise<unknown> {
  return run.result().then(
    () => 'it completed',
    (error: unknown) => error,
  )
}
