import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { orders } from './setup/orders.ts'

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
        '  latest. (1 d 23 h left)',
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
      /\n\n! The compensation of "chargeCard" failed for good \(Error: 503 from\n {2}payments\.example: refunds are closed until 06:00\):/,
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
    expect(stdout).toMatch(
      /\n"approveOrder" waits for a decision, until \S+ at the latest\. \(1 d 23 h left\)\n/,
    )
    expect(stdout).not.toMatch(/[◊·]/)
  })
})
