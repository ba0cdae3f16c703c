import { describe, expect, it } from 'vitest'
import type { WorkflowDefinition } from '../../src/definition/index.ts'
import { define } from '../../src/definition/index.ts'
import { failuresFirst, type MachineEvent } from '../../src/machine/index.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import { Driver } from './driver.ts'

const run = () => 1
const compensate = () => {}
const playing = ({ record }: { readonly record: WorkflowDefinition['record'] }) =>
  new Driver(specOfShape(record.shape))

/** a → b → c; a and b can be undone. */
const chain = define('chain', { version: 1 })
  .step('a', { run, compensate })
  .step('b', { dependsOn: ['a'], run, compensate })
  .step('c', { dependsOn: ['b'], run })

describe('keys change only after an undo, and then always', () => {
  it('a failed step continues its round, an undone step and all that builds on it begin another', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.done('b')
    driver.fails('c')
    driver.done('b')
    driver.done('a')
    expect(driver.at()).toMatchObject({ status: 'undone', of: 'failed' })

    driver.fold({ type: 'retry' })

    expect(driver.open).toEqual(['a.run'])
    expect([driver.at('a'), driver.at('b'), driver.at('c')].map(({ round }) => round)).toEqual([2, 2, 2])
  })

  it('what failed or was cancelled, and was not undone, keeps its round', () => {
    const alone = define('alone', { version: 1 })
      .step('a', { run })
      .step('b', { run })
      .step('c', { dependsOn: ['b'], run })
    const driver = playing(alone)
    driver.fails('a')
    driver.unbegun('b')
    expect(driver.at()).toMatchObject({ status: 'failed' })

    driver.fold({ type: 'retry' })

    expect([driver.at('a').round, driver.at('b').round]).toEqual([1, 1])
  })

  it('a loop that begins anew never uses a key of an earlier round again', () => {
    const loop = define('loop', { version: 1 })
      .repeat('fetch', { run, compensate, until: () => false, max: 9 })
      .step('end', { dependsOn: ['fetch'], run })
    const driver = playing(loop)
    driver.done('fetch')
    driver.done('0', { more: true })
    driver.done('1', { more: false })
    driver.fails('end')
    driver.done('1')
    driver.done('0')

    driver.fold({ type: 'retry' })
    if (driver.open.includes('fetch.open')) driver.done('fetch')

    const rounds = [...driver.rows.values()].filter(({ scope }) => scope === driver.at('fetch').no)
    expect(rounds.map(({ key, round }) => [key, round])).toEqual([[0, 2]])
  })
})

describe('an attempt that was lost', () => {
  it('shows one loss and the next attempt, and is no kill if no row had said that it began', () => {
    const driver = playing(chain)

    driver.takeover()

    expect(driver.at('a')).toMatchObject({
      recorded: false,
      forward: { attempt: 2, losses: 1, kills: 0, failures: 0 },
    })
    expect(driver.asked).toMatchObject([{ suspect: true }])
  })

  it('is a kill once its row was written before its handler was called', () => {
    const driver = playing(chain)
    driver.takeover()
    const [{ unit, serial } = { unit: 0, serial: 0 }] = driver.asked
    driver.fold({ type: 'record', unit, serial, before: true })

    driver.takeover()

    expect(driver.at('a').forward).toMatchObject({ attempt: 3, losses: 2, kills: 1 })
  })

  it('is no kill if a tick wrote the row', () => {
    const driver = playing(chain)
    const [{ unit, serial } = { unit: 0, serial: 0 }] = driver.asked
    driver.fold({ type: 'record', unit, serial, before: false })

    driver.takeover()

    expect(driver.at('a').forward).toMatchObject({ attempt: 2, losses: 1, kills: 0 })
  })

  it('changes nothing any more with its late answer', () => {
    const driver = playing(chain)
    const [{ unit, serial } = { unit: 0, serial: 0 }] = driver.asked
    driver.takeover()
    const before = structuredClone(driver.at('a'))

    driver.fold({ type: 'done', unit, serial, output: 'late' })

    expect(driver.at('a')).toEqual(before)
  })
})

describe('compensateOn: started', () => {
  const started = define('started', { version: 1 })
    .step('a', { run, compensate, compensateOn: 'started' })
    .step('b', { run })

  it('undoes a step that failed', () => {
    const driver = playing(started)
    driver.fails('a')
    driver.done('b')

    expect(driver.open).toEqual(['a.undo'])
  })

  it('undoes a step that was cancelled between two tries', () => {
    const driver = playing(started)
    driver.fails('a', { retryAt: 2_000 })
    driver.fails('b')

    expect(driver.open).toEqual(['a.undo'])
    expect(driver.at('a')).toMatchObject({ status: 'undoing', of: 'cancelled' })
  })

  it('does not undo a step whose handler was never called', () => {
    const driver = playing(started)
    driver.fails('b')
    driver.unbegun('a')

    expect(driver.at()).toMatchObject({ status: 'failed', of: null })
  })

  it('does not undo a step whose `when` threw', () => {
    const asked = define('asked', { version: 1 }).step('a', {
      when: () => true,
      run,
      compensate,
      compensateOn: 'started',
    })
    const driver = playing(asked)
    driver.fails('a')

    expect(driver.at()).toMatchObject({ status: 'failed', of: null })
  })
})

describe('a step that failed after its effect', () => {
  it('is not retried, and is undone like a completed one', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fails('b', { retryAt: 2_000, succeeded: true })

    expect(driver.open).toEqual(['b.undo'])
    expect(driver.at('b')).toMatchObject({ status: 'undoing', of: 'failed', succeeded: true })
  })
})

describe('a failure past which the run went on', () => {
  const bearing = define('bearing', { version: 1 })
    .step('a', { run, onFailure: 'continue' })
    .step('told', { dependsOn: ['a'], run })
    .step('b', { run, onFailure: 'continue' })
    .step('last', { run })

  it('is kept by a retry if a step that was told of it is kept, and runs again otherwise', () => {
    const driver = playing(bearing)
    driver.fails('a')
    driver.done('told')
    driver.fails('b')
    driver.fails('last')

    driver.fold({ type: 'retry' })

    expect(driver.open.toSorted()).toEqual(['b.run', 'last.run'])
    expect(driver.statuses).toMatchObject({ a: 'failed', told: 'completed' })
  })
})

describe('a paused run', () => {
  it('begins nothing, and everything once it is resumed', () => {
    const driver = playing(chain)
    driver.fold({ type: 'pause' })
    driver.done('a')
    expect(driver.open).toEqual([])

    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['b.run'])
  })

  it('that fails stays stopped, and is undone once it is resumed', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fold({ type: 'pause' })
    driver.fails('b')
    expect([driver.open, driver.at().status]).toEqual([[], 'stopping'])

    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['a.undo'])
  })

  it('that has failed can be cancelled without its undo', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fold({ type: 'pause' })
    driver.fails('b')

    expect(driver.fold({ type: 'cancel', compensate: false })).toMatchObject({ changed: true })
    expect([driver.open, driver.at().status, driver.statuses['a']]).toEqual([[], 'cancelled', 'completed'])
  })

  it('takes a signal, and goes on with it once it is resumed', () => {
    const waiting = define('waiting', { version: 1 })
      .waitForSignal('paid')
      .step('ship', { dependsOn: ['paid'], run })
    const driver = playing(waiting)
    driver.done('paid')
    driver.fold({ type: 'pause' })
    driver.tell(['paid'], { body: 7 })
    expect(driver.statuses).toEqual({ paid: 'waiting', ship: 'pending' })

    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['ship.run'])
  })
})

const pivoted = define('pivoted', { version: 1 })
  .step('pay', { run, pivot: true })
  .step('ship', { dependsOn: ['pay'], run })

describe('a run and its deadline', () => {
  it('drops a deadline that passes after its pivot', () => {
    const driver = new Driver(specOfShape(pivoted.record.shape), { deadlineAt: 2_000 })
    driver.done('pay')

    driver.fold({ type: 'deadline' })

    expect([driver.row.deadlineAt, driver.at().status]).toEqual([null, 'open'])
  })

  it('drops it in a retry if it has passed, and keeps it otherwise', () => {
    const [early, late] = [2_000, 500].map(
      (deadlineAt) => new Driver(specOfShape(chain.record.shape), { deadlineAt }),
    )
    for (const driver of [early!, late!]) {
      driver.fails('a')
      driver.fold({ type: 'retry' })
    }

    expect([early!.row.deadlineAt, late!.row.deadlineAt]).toEqual([2_000, null])
  })
})

it('in one call, a failure that stops the run comes before one that would continue it', () => {
  const borne = define('borne', { version: 1 })
    .step('a', { run, onFailure: 'continue' })
    .step('b', { run })
    .step('c', { dependsOn: ['a'], run })
  const driver = playing(borne)
  const events = driver.asked.map(
    ({ unit, serial }): MachineEvent => ({ type: 'failed', unit, serial, error: 'failed' }),
  )

  driver.fold(...failuresFirst(driver.load(), events, (event) => event))

  expect([driver.open, driver.statuses]).toEqual([
    ['a.run', 'b.run'],
    { a: 'failed', b: 'failed', c: 'pending' },
  ])
})
