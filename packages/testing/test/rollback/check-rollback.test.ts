import { define, unchecked } from '@belay/workflow'
import { describe, expect, test } from 'vitest'
import { assertRollback, checkRollback } from '../../src/index.ts'

/** A world of rows, and a workflow that writes them. */
function shop({ on = 'started' as 'started' | 'completed', forgetsFee = false } = {}) {
  const rows = new Set<string>()
  const order = define('order', { version: 1, input: unchecked<{ items: string[] }>() })
    .step('reserve', {
      compensateOn: on,
      run: () => {
        rows.add('reserved')
      },
      compensate: () => {
        rows.delete('reserved')
      },
    })
    .step('fee', {
      dependsOn: ['reserve'],
      compensateOn: on,
      run: () => {
        rows.add('fee')
      },
      compensate: () => {
        if (!forgetsFee) rows.delete('fee')
      },
    })
    .map('pack', {
      dependsOn: ['fee'],
      over: ({ input }) => input.items,
      compensateOn: on,
      run: ({ item }) => {
        rows.add(`packed ${item}`)
      },
      compensate: ({ item }) => {
        rows.delete(`packed ${item}`)
      },
    })
    .waitForSignal('shipped', { dependsOn: ['pack'] })
    .step('look', { dependsOn: ['shipped'], run: () => 'seen' })
  return { rows, order }
}

describe('checkRollback', () => {
  test('lets each step fail, before and after its effect, and finds a world that was put back', async () => {
    const { rows, order } = shop()

    const report = await checkRollback(order, {
      input: { items: ['a', 'b'] },
      effects: () => rows,
      reset: () => rows.clear(),
      drive: (tested) => tested.signal('shipped', undefined),
    })

    expect(report.runs.map(({ step, failed, status }) => `${step} ${failed}: ${status}`)).toEqual([
      'reserve before: compensated',
      'reserve after: compensated',
      'fee before: compensated',
      'fee after: compensated',
      'pack[1] before: compensated',
      'pack[1] after: compensated',
      'look before: compensated',
      'look after: compensated',
    ])
    expect(report.ok).toBe(true)
    expect(report.unprotected).toEqual(['look'])
    expect(String(report)).toMatch(/8 runs, all undone.*\n.*neither a compensation.*: look\./)
  })

  test('names what a compensation forgets, in every run that needed it', async () => {
    const { rows, order } = shop({ forgetsFee: true })

    const report = await checkRollback(order, {
      input: { items: ['a'] },
      effects: () => ({ rows }),
      reset: () => rows.clear(),
      drive: (tested) => tested.signal('shipped', undefined),
    })

    expect(report.ok).toBe(false)
    const bad = report.runs.filter(({ leftBehind }) => leftBehind.length > 0)
    expect(bad.map(({ step, failed }) => `${step} ${failed}`)).toEqual([
      'fee after',
      ...['pack[0] before', 'pack[0] after', 'look before', 'look after'],
    ])
    expect(bad[1]!.leftBehind).toEqual(['rows[0]: nothing → "fee"'])
  })

  test('a step that fails after its effect needs compensateOn: started', async () => {
    const { rows, order } = shop({ on: 'completed' })

    const checking = assertRollback(order, {
      input: { items: ['a'] },
      effects: () => rows,
      reset: () => rows.clear(),
      drive: (tested) => tested.signal('shipped', undefined),
    })

    await expect(checking).rejects.toThrow(
      /"fee" failing after its effect leaves behind:\n.*nothing → "fee"\n.*compensateOn: 'started'/,
    )
  })

  test('without a world, the undo of each step is looked for, and a step that cannot be undone is wrong', async () => {
    const { order } = shop()
    const given = {
      input: { items: ['a'] },
      drive: (tested: { signal(name: 'shipped', payload: undefined): unknown }) =>
        tested.signal('shipped', undefined),
    }

    const report = await checkRollback(order, given)
    const told = await checkRollback(order, { ...given, withoutEffect: ['look'] })

    expect(report).toMatchObject({ ok: false, unprotected: ['look'] })
    expect(report.runs.every(({ leftBehind }) => leftBehind.length === 0)).toBe(true)
    expect(told).toMatchObject({ ok: true, unprotected: [] })
  })

  test('children and rounds fail as one step each, and skipped steps are told', async () => {
    const done: string[] = []
    const effect = (name: string) => ({
      compensateOn: 'started' as const,
      run: () => {
        done.push(name)
        return name
      },
      compensate: () => {
        if (done.includes(name)) done.splice(done.lastIndexOf(name), 1)
      },
    })
    const ship = define('ship', { version: 1 })
      .step('label', effect('label'))
      .step('send', { ...effect('send'), dependsOn: ['label'] })
    const parent = define('parent', { version: 1 })
      .step('pay', effect('pay'))
      .repeat('page', { ...effect('page'), dependsOn: ['pay'], until: ({ round }) => round === 2 })
      .workflow('shipping', ship, { dependsOn: ['page'] })
      .step('never', { ...effect('never'), when: () => false })

    const report = await assertRollback(parent, { effects: () => done, reset: () => done.splice(0) })

    expect(report.runs.map(({ step, failed }) => `${step} ${failed}`)).toEqual([
      ...['pay before', 'pay after', 'page[2] before', 'page[2] after'],
      ...['ship/send before', 'ship/send after'],
    ])
    expect(report.unreached).toEqual(['never'])
  })

  test('after a pivot nothing is undone, and what nothing can undo is not judged', async () => {
    const sent: string[] = []
    const letter = define('letter', { version: 1 })
      .step('send', {
        irreversible: true,
        run: () => {
          sent.push('letter')
        },
      })
      .step('pay', { dependsOn: ['send'], pivot: true, run: () => 'paid' })
      .step('file', { dependsOn: ['pay'], run: () => 'filed' })

    const report = await checkRollback(letter, { effects: () => sent })

    expect(report.ok).toBe(true)
    expect(report.unprotected).toEqual([])
    expect(report.runs.map(({ step, status, unjudged }) => [step, status, unjudged])).toEqual([
      ['send', 'failed', undefined],
      ['pay', 'failed', '"send" had run, whose effect nothing can undo'],
      ['file', 'parked', 'the run goes forward only, after its pivot'],
    ])
  })

  test('a workflow that does not complete without a failure is refused, with the reason', async () => {
    const broken = define('broken', { version: 1 }).step('work', {
      retry: { attempts: 1 },
      run: () => {
        throw new Error('no such table')
      },
    })

    await expect(checkRollback(broken)).rejects.toThrow(
      /ended as failed: step "work" failed with no such table/,
    )
  })
})
