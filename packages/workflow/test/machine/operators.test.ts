import { describe, expect, it } from 'vitest'
import type { WorkflowDefinition } from '../../src/definition/index.ts'
import { define } from '../../src/definition/index.ts'
import { changes, commit, dryRun } from '../../src/machine/index.ts'
import { type MapSpec, map } from '../../src/machine/kinds/map.ts'
import { work } from '../../src/machine/kinds/work.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import { graphOf } from './definitions.ts'
import { Driver, items } from './driver.ts'

const run = () => 1
const compensate = () => {}
const playing = ({ record }: { readonly record: WorkflowDefinition['record'] }) =>
  new Driver(specOfShape(record.shape))

/** a → b → c; a and b can be undone. */
const chain = define('chain', { version: 1 })
  .step('a', { run, compensate })
  .step('b', { dependsOn: ['a'], run, compensate })
  .step('c', { dependsOn: ['b'], run })

const pivoted = define('pivoted', { version: 1 })
  .step('pay', { run, pivot: true })
  .step('one', { dependsOn: ['pay'], run })
  .step('two', { dependsOn: ['pay'], run })

/** A map of which two of three items must succeed, after a pivot. */
const sharing = (each: Partial<MapSpec> = {}) =>
  graphOf([
    { of: work, name: 'pay', pivot: true },
    {
      ...{ of: map, name: 'send', dependsOn: ['pay'], collects: true },
      ...{ each: { of: work, name: 'send' }, ...each },
    } as never,
    { of: work, name: 'end', dependsOn: ['send'] },
  ])

describe('a run that is parked after its pivot', () => {
  it('is retried with all that is parked', () => {
    const driver = playing(pivoted)
    driver.done('pay')
    driver.fails('one')
    driver.fails('two')

    driver.fold({ type: 'retry' })

    expect(driver.open).toEqual(['one.run', 'two.run'])
  })

  it('is retried in a pause, and begins once it is resumed', () => {
    const driver = playing(pivoted)
    driver.done('pay')
    driver.fails('one')
    driver.fold({ type: 'pause' })
    driver.fold({ type: 'retry' })
    expect([driver.open, driver.statuses['one']]).toEqual([['two.run'], 'pending'])

    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['two.run', 'one.run'])
  })

  it.each(['retry', 'retryStep'] as const)(
    'whose map had too few successes runs its failed items again with %s, and then the map',
    (type) => {
      const driver = new Driver(sharing())
      driver.done('pay')
      driver.done('send', { items: items(3) })
      driver.done('0')
      driver.fails('1')
      driver.fails('2')
      driver.fails('send')
      expect(driver.at('send').status).toBe('parked')

      driver.fold(type === 'retry' ? { type } : { type, unit: driver.at('send').no })
      expect(driver.open).toEqual(['1.run', '2.run'])
      driver.done('1')
      driver.done('2')
      driver.done('send')

      expect(driver.open).toEqual(['end.run'])
    },
  )
})

describe('a step that is tried again at once', () => {
  it('keeps its count of lost workers, and has all its retries', () => {
    const driver = playing(chain)
    driver.loses('a')
    driver.asked = driver.asked.slice(-1)
    driver.fails('a', { retryAt: 9_000 })

    driver.operate('retryStep', 'a')

    expect(driver.at('a').forward).toMatchObject({ losses: 1, failures: 0, series: null, due: null })
    expect(driver.open).toEqual(['a.run'])
  })

  it('in a pause begins once that is over', () => {
    const driver = playing(chain)
    driver.fails('a', { retryAt: 9_000 })
    driver.fold({ type: 'pause' })

    driver.operate('retryStep', 'a')
    expect([driver.open, driver.at('a').forward]).toMatchObject([[], { failures: 0, due: null }])
    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['a.run'])
  })
})

describe('skipStep', () => {
  const looping = define('looping', { version: 1 })
    .repeat('fetch', { run, until: () => false, max: 9 })
    .step('end', { dependsOn: ['fetch'], run })

  it('never skips a map while it decides its items', () => {
    const driver = new Driver(sharing())
    driver.done('pay')
    driver.fails('send', { retryAt: 9_000 })

    expect(driver.operate('skipStep', 'send')).toMatchObject({
      refused: {
        what: 'Step "send" of run run cannot be skipped: it decides the items of a map.',
        remedy: 'Retry the run, or skip items of the map.',
      },
    })
  })

  it('never skips a map while its items go on, and does once it is parked at its end', () => {
    const driver = new Driver(sharing())
    driver.done('pay')
    driver.done('send', { items: items(2) })
    driver.fails('0')
    expect(driver.operate('skipStep', 'send')).toMatchObject({
      refused: { remedy: 'Skip those first, or skip this step when its turn comes.' },
    })
    driver.fails('1')
    driver.fails('send')

    driver.operate('skipStep', 'send')

    expect(driver.open).toEqual(['end.run'])
  })

  it('of a round ends its loop with the stand-in', () => {
    const driver = playing(looping)
    driver.done('fetch')
    driver.fails('0', { retryAt: 9_000 })

    driver.fold({ type: 'skipStep', unit: driver.at('fetch', 0).no, output: { more: true } })

    expect([driver.statuses['fetch'], driver.open]).toEqual(['completed', ['end.run']])
  })

  it('forgets the signal that the step had taken', () => {
    const waiting = define('waiting', { version: 1 })
      .waitForSignal('paid')
      .step('ship', { dependsOn: ['paid'], run })
    const driver = playing(waiting)
    driver.tell(['paid'], { body: 7 })
    driver.fails('paid', { retryAt: 9_000 })

    driver.operate('skipStep', 'paid')

    expect(driver.at('paid').note).not.toHaveProperty('mail')
  })
})

describe('drop', () => {
  it('ends a run that goes forward without an undo', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fails('b', { retryAt: 9_000 })

    expect(driver.fold({ type: 'drop' })).toMatchObject({ changed: true, from: 'running', to: 'cancelled' })

    expect(driver.statuses).toEqual({ a: 'completed', b: 'cancelled', c: 'pending' })
    expect(driver.fold({ type: 'drop' })).toEqual({ changed: false })
  })

  it('counts undos that had begun as skipped, and keeps how the run was to end', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.done('b')
    driver.fails('c')
    driver.fails('b')

    expect(driver.fold({ type: 'drop' })).toMatchObject({ from: 'compensation_failed', to: 'compensated' })

    expect(driver.at('b')).toMatchObject({ status: 'undone', note: { skippedUndo: true } })
    expect(driver.at('a').status).toBe('completed')
  })

  it('is refused while a handler runs', () => {
    expect(playing(chain).fold({ type: 'drop' })).toMatchObject({
      refused: {
        what: 'Step "a" of run run cannot be dropped with its run: it is running.',
        remedy: 'If its worker is gone, wait until its lease has ended.',
      },
    })
  })

  it('says that no other run follows', () => {
    const driver = playing(chain)
    driver.fails('a', { retryAt: 9_000 })
    const memory = driver.load()

    expect(dryRun(memory, { type: 'drop' }, 1_000).changes).toMatchObject({
      ended: 'cancelled',
      isDropped: true,
    })
  })
})

describe('setPriority', () => {
  it('changes that of a run that goes forward, once', () => {
    const driver = playing(chain)

    expect(driver.fold({ type: 'setPriority', priority: 5 })).toMatchObject({ changed: true })
    expect(driver.row.priority).toBe(5)
    expect(driver.fold({ type: 'setPriority', priority: 5 })).toEqual({ changed: false })
  })

  it('is refused of a run that is undone or has ended', () => {
    const driver = playing(chain)
    driver.fails('a')

    expect(driver.fold({ type: 'setPriority', priority: 5 })).toMatchObject({
      refused: { what: 'Run run cannot be given another priority: it has ended as failed.' },
    })
  })
})

describe('giving up a handler', () => {
  it('leaves its step failed with an error that says why, and ignores what comes late', () => {
    const driver = playing(chain)
    const [{ unit, serial } = { unit: 0, serial: 0 }] = driver.asked
    driver.fold({ type: 'cancel' })

    driver.fold({ type: 'giveUp', unit, reason: 'its machine burned' })
    driver.fold({ type: 'done', unit, serial })

    expect(driver.at('a')).toMatchObject({
      status: 'failed',
      error: {
        code: 'outcome_unknown',
        message:
          'An operator gave up on the handler, which had not ended: its machine burned. Whether it took effect is unknown.',
      },
    })
  })

  it('needs a reason', () => {
    const driver = playing(chain)
    driver.fold({ type: 'cancel' })

    expect(driver.fold({ type: 'giveUp', unit: driver.at('a').no, reason: '' })).toEqual({
      refused: {
        code: 'invalid_option',
        what: 'giveUpStep(): reason must be given: say how you know that the handler will not end.',
      },
    })
  })
})

describe('the undo of a step that comes after others', () => {
  it('cannot be repaired before theirs, and says which those are', () => {
    const apart = define('apart', { version: 1 })
      .step('a', { run, compensate })
      .step('between', { dependsOn: ['a'], run })
      .step('b', { dependsOn: ['between'], run, compensate })
      .step('c', { dependsOn: ['b'], run })
    const driver = playing(apart)
    driver.done('a')
    driver.done('between')
    driver.done('b')
    driver.fails('c')

    expect(driver.operate('skipUndo', 'a')).toEqual({
      refused: {
        code: 'action_refused',
        what: 'Step "a" of run run cannot be skipped in its undo: it is undone after "b".',
        remedy: 'Its explanation tells what those wait for.',
      },
    })
  })
})

describe('a dry run', () => {
  it('says what the action would do, and changes nothing', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fails('b')
    const memory = driver.load()

    const { answer } = dryRun(memory, { type: 'skipUndo', unit: driver.at('a').no }, 1_000)
    const cancelled = dryRun(memory, { type: 'pause' }, 1_000)

    expect(answer).toMatchObject({ refused: { what: expect.stringContaining('its undo is running') } })
    expect(cancelled.answer).toMatchObject({ changed: true, from: 'compensating', to: 'paused' })
    memory.out = changes()
    expect(commit(memory)).toMatchObject({ run: null, rows: [] })
  })
})

describe('what an action changed', () => {
  it('is told by the words that people read', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.done('b')
    driver.fails('c')
    driver.done('b')
    driver.done('a')

    expect(driver.fold({ type: 'retry' })).toEqual({
      changed: true,
      from: 'compensated',
      to: 'running',
      steps: [
        { name: 'a', from: 'compensated', to: 'running', round: 2 },
        { name: 'b', from: 'compensated', to: 'pending', round: 2 },
        { name: 'c', from: 'failed', to: 'pending', round: 2 },
      ],
    })
  })

  it('names the first hundred steps, and says how many more there are', () => {
    const driver = new Driver(sharing())
    driver.done('pay')
    driver.done('send', { items: items(150) })
    driver.fold({ type: 'pause' })
    for (let item = 0; item < 150; item++) driver.unbegun(String(item))

    const told = driver.fold({ type: 'cancel', compensate: false })

    expect(told).toMatchObject({ from: 'paused', to: 'cancelled', moreSteps: 52 })
    expect(told).toHaveProperty('steps.length', 100)
  })
})
