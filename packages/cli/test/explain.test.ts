import { define } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { belay } from './setup/belay.ts'
import { orders } from './setup/orders.ts'
import { testStore } from './setup/store.ts'

describe('belay explain', () => {
  it('says what a run waits for, until when, and which commands fit', async () => {
    const { env, order } = await orders()
    const id = await order('order:9183', { large: true })

    const { stdout, status } = await belay(['explain', 'order:9183'], { env, columns: 80 })

    expect(stdout.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '2026-11-26T18:30:33.200Z')).toBe(
      [
        `Run ${id} is waiting: nothing can be done now in`,
        'its 7 open steps.',
        '',
        '◊ "approveOrder" waits for a decision, until 2026-11-26T18:30:33.200Z at the',
        '  latest. (2 d left)',
        '    belay approve order:9183 approveOrder',
        '    belay reject order:9183 approveOrder',
        '6 more wait for other steps: belay explain order:9183 --all',
        '',
      ].join('\n'),
    )
    expect(status).toBe(0)
  })

  it('names with --all also those that wait for others, and why steps were skipped', async () => {
    const { env, order } = await orders()
    await order('order:9183', { large: true })
    await order('order:9182', {})

    const waiting = await belay(['explain', 'order:9183', '--all'], { env, columns: 80 })
    const skipped = await belay(['explain', 'order:9182', '--all'], { env, columns: 80 })

    expect(waiting.stdout).toContain('\n· "chargeCard" waits for "approveOrder" (waiting).\n')
    expect(waiting.stdout).not.toContain('more wait')
    expect(skipped.stdout).toContain('\n· "bookCourier" was skipped')
  })

  it('puts first what somebody can repair', async () => {
    const { env, order } = await orders()
    await order('order:9185', { route: 'express', stranded: true, closed: true })

    const { stdout } = await belay(['explain', 'order:9185'], { env, columns: 80 })

    expect(stdout).toMatch(
      /\n\n! The undo of "chargeCard" failed for good \(Error: 503 from payments\.example:\n {2}refunds are closed until 06:00\):/,
    )
    expect(stdout).toMatch(/\n {6}at run \(\S+orders\.ts:\d+:\d+\)\n/)
    expect(stdout).toContain(
      [
        "    belay undo retry order:9185 chargeCard --reason '…'",
        "    belay undo skip order:9185 chargeCard --reason '…'",
        '‹ "reserveStock" is undone after "chargeCard"',
      ].join('\n'),
    )
  })

  it('tells items that failed alike together, with how many they are and a few keys', async () => {
    const { env, engine } = await testStore()
    const send = define('send', { version: 1 }).map('post', {
      over: () => Array.from({ length: 200 }, (_, n) => n),
      itemKey: (n) => `to-${n}`,
      concurrency: 100,
      retry: { retries: 1, initial: '1h' },
      run: ({ item }) => {
        throw new Error(item === 7 ? 'no such address' : '503 from mail.example')
      },
    })
    const worker = engine({ workflows: [send], concurrency: 50 })
    await worker.start()
    const run = await worker.run(send, undefined, { key: 'post:1' })
    await vi.waitFor(async () => {
      const failed = (await worker.runs.get(run.id))!.steps.filter(({ error }) => error !== undefined)
      expect(failed).toHaveLength(100)
    }, 20_000)

    const { stdout } = await belay(['explain', 'post:1'], { env, columns: 80 })

    const lines = stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '2026-11-26T18:30:33.200Z').split('\n')
    expect(lines).toContain(
      '○ 99 items of "post" (to-0, to-1, to-2, …): "post[to-0]" failed once (Error: 503',
    )
    expect(lines.filter((line) => line.startsWith('○ '))).toHaveLength(2)
    expect(lines.filter((line) => line.includes('belay retry'))).toHaveLength(2)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines.length).toBeLessThan(24)
  })

  it('gives one document with the names of the API', async () => {
    const { env, order } = await orders()
    const id = await order('order:9183', { large: true })

    const { stdout } = await belay(['explain', id, '--json'], { env })

    expect(JSON.parse(stdout)).toMatchObject({
      runId: id,
      status: 'waiting',
      steps: expect.arrayContaining([
        expect.objectContaining({
          step: 'approveOrder',
          reason: 'signal',
          actions: [
            expect.objectContaining({ verb: 'approve' }),
            expect.objectContaining({ verb: 'reject' }),
          ],
        }),
      ]),
    })
  })

  it('gives a pipe whole sentences without shapes', async () => {
    const { env, order } = await orders()
    const id = await order('order:9183', { large: true })

    const { stdout } = await belay(['explain', 'order:9183'], { env })

    expect(stdout.split('\n')[0]).toBe(`Run ${id} is waiting: nothing can be done now in its 7 open steps.`)
    expect(stdout).toMatch(/\n"approveOrder" waits for a decision, until \S+ at the latest\. \(2 d left\)\n/)
    expect(stdout).not.toMatch(/[◊·]/)
  })
})
