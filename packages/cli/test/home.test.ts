import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { orders } from './setup/orders.ts'
import { testStore } from './setup/store.ts'

describe('bare belay', () => {
  it('says first what needs a person, then how things are, and one command that leads on', async () => {
    const { env, order, schema } = await orders()
    await order('order:9183', { large: true })
    await order('order:9184', { route: 'express', stranded: true })
    await order('order:9185', { route: 'express', stranded: true, closed: true })

    const { stdout, stderr, status } = await belay([], { env, columns: 80 })

    const [place, empty, ...lines] = stdout.trimEnd().split('\n')
    expect(place).toMatch(new RegExp(`^\\S+ at \\S+ \\(DATABASE_URL\\), schema ${schema}$`))
    expect(empty).toBe('')
    expect(lines).toEqual([
      '  needs you   ! order:9185  chargeCard: its compensation failed for good',
      '              ◊ order:9183  approveOrder waits for a decision, 1 d 23 h left',
      '  now         0 running, 1 waiting, 1 parked',
      '  last hour   1 failed of 1 ended, and undone',
      '  workers     1 live, 0 of 50 slots busy',
    ])
    expect(stderr).toBe('\n  belay explain order:9185\n')
    const plain = await belay(['--plain'], { env, columns: 80 })
    expect(plain.stdout).toContain('\nneeds you: order:9185, chargeCard: its compensation failed for good.\n')
    expect(status).toBe(0)
  })

  it('says how many of how many are parked, and that list finds them as failed', async () => {
    const { env, order } = await orders()
    for (const number of [1, 2, 3, 4, 5])
      await order(`order:${number}`, { route: 'express', stranded: true, closed: true })
    await order('order:6', { route: 'express', stranded: true })

    const { stdout } = await belay([], { env, columns: 80 })
    const failed = await belay(['list', '--status', 'failed', '--fields', 'key'], { env })
    const only = await belay(['list', '--status', 'failed-only'], { env })
    const undone = await belay(['list', '--status', 'undone', '--fields', 'key'], { env })

    expect(stdout).toContain('  4 of 5 parked: belay list --status parked,undo-parked\n')
    expect(stdout).toContain('  now         0 running, 0 waiting, 5 parked\n')
    expect(failed.stdout.trim().split('\n').sort()).toEqual([1, 2, 3, 4, 5, 6].map((n) => `order:${n}`))
    expect([only.stdout, undone.stdout]).toEqual(['', 'order:6\n'])
  })

  it('says that nothing needs a person', async () => {
    const { env } = await testStore()

    const { stdout, stderr } = await belay([], { env, columns: 80 })

    expect(stdout).toMatch(/\n {2}needs you {3}nothing\n/)
    expect(stdout).toMatch(/\n {2}workers {5}0 live\n$/)
    expect(stderr).toBe('\n  belay list\n')
  })

  it('names what doctor finds besides', async () => {
    const { env, order, worker } = await orders()
    await order('order:9182', {})
    await worker.stop()

    const { stdout, stderr } = await belay([], { env, columns: 80 })

    expect(stdout).toMatch(
      /\n {2}needs you {3}! No worker is live: 1 run of workflow "fulfil-order" version 3 c.*…\n/,
    )
    expect(stderr).toBe('\n  belay doctor\n')
  })

  it('gives one document', async () => {
    const { env, order, schema } = await orders()
    const id = await order('order:9183', { large: true })
    await order('order:9185', { route: 'express', stranded: true, closed: true })

    const { stdout, stderr } = await belay(['--json'], { env })

    expect(stdout).not.toContain('stranded')
    expect(JSON.parse(stdout)).toMatchObject({
      schema,
      source: 'DATABASE_URL',
      parked: [{ key: 'order:9185', status: 'compensation_failed' }],
      approvals: [{ runId: id, step: 'approveOrder' }],
      live: { waiting: { count: 1 } },
      workers: [{ status: 'live' }],
      findings: [],
    })
    expect(stderr).toBe('')
  })

  it('offers the nearest verb for an unknown one', async () => {
    const { stderr, status } = await belay(['shwo', 'order:1'])

    expect([stderr, status]).toEqual(['Unknown verb "shwo". Did you mean "show"?\n  belay --help\n', 2])
  })
})
