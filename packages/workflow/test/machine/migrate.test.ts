import { expect, it } from 'vitest'
import { define, type WorkflowDefinition } from '../../src/definition/index.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import { Driver, items } from './driver.ts'

type Defined = { readonly record: WorkflowDefinition['record'] }

const run = () => 1
const compensate = () => {}
const specOf = ({ record }: Defined) => specOfShape(record.shape)
const playing = (defined: Defined) => new Driver(specOf(defined))
const moved = (driver: Driver, to: Defined) =>
  driver.fold({ type: 'migrate', spec: specOf(to), name: 'w', version: 2 })
const refusal = (because: string) => ({
  refused: { code: 'action_refused', what: `Run run cannot be moved to "w" version 2: ${because}.` },
})

const one = define('w', { version: 1 })
  .step('a', { run })
  .step('b', { dependsOn: ['a'], run })
  .step('gone', { dependsOn: ['b'], run })
const two = define('w', { version: 2 })
  .step('a', { run })
  .step('new', { run })
  .step('b', { dependsOn: ['a', 'new'], run })

/** `a` has completed, and nothing runs. */
function between(defined: Defined): Driver {
  const driver = playing(defined)
  driver.fold({ type: 'pause' })
  driver.done('a')
  return driver
}

it('a run continues in another version, with new steps, and without those that are gone', () => {
  const driver = between(one)

  expect(moved(driver, two)).toMatchObject({ changed: true })
  expect(driver.statuses).toEqual({ a: 'completed', b: 'pending', new: 'pending' })
  driver.fold({ type: 'resume' })

  expect(driver.open).toEqual(['new.run'])
})

it('a move to its own version changes nothing', () => {
  expect(moved(between(one), one)).toEqual({ changed: false })
})

it('a run of which all sinks are done completes with the move', () => {
  const driver = between(one)

  const told = moved(driver, define('w', { version: 2 }).step('a', { run }))

  expect(told).toMatchObject({ from: 'paused', to: 'completed' })
})

it('a run that has ended moves without going forward, and a retry goes forward with the new version', () => {
  const driver = playing(one)
  driver.fails('a')

  expect(moved(driver, two)).toMatchObject({ changed: true, from: 'failed', to: 'failed' })
  expect(driver.open).toEqual([])
  driver.fold({ type: 'retry' })

  expect(driver.open.toSorted()).toEqual(['a.run', 'new.run'])
})

it('a run that has completed is not moved', () => {
  const driver = playing(define('w', { version: 1 }).step('a', { run }))
  driver.done('a')

  expect(moved(driver, two)).toMatchObject({
    refused: { what: 'Run run cannot be moved to another version: it has completed.' },
  })
})

it('a run that is being undone is not moved', () => {
  const undoable = define('w', { version: 1 })
    .step('a', { run, compensate })
    .step('b', { dependsOn: ['a'], run })
  const driver = playing(undoable)
  driver.done('a')
  driver.fails('b')

  expect(moved(driver, two)).toMatchObject({
    refused: {
      what: 'Run run cannot be moved to another version: it is being undone.',
      remedy: 'Wait until its undo has ended.',
    },
  })
})

it('what is parked after a pivot runs again in the new version', () => {
  const pivot = define('w', { version: 1 })
    .step('pay', { run, pivot: true })
    .step('b', { dependsOn: ['pay'], run })
  const more = define('w', { version: 2 })
    .step('pay', { run, pivot: true })
    .step('before', { dependsOn: ['pay'], run })
    .step('b', { dependsOn: ['before'], run })
  const driver = playing(pivot)
  driver.done('pay')
  driver.fails('b')

  moved(driver, more)

  expect([driver.open, driver.statuses['b']]).toEqual([['before.run'], 'pending'])
})

it('a step between two tries waits for what it depends on in the new version, and keeps its round', () => {
  const driver = playing(define('w', { version: 1 }).step('b', { run }))
  driver.fails('b', { retryAt: 9_000 })

  moved(
    driver,
    define('w', { version: 2 })
      .step('new', { run })
      .step('b', { dependsOn: ['new'], run }),
  )

  expect(driver.open).toEqual(['new.run'])
  expect(driver.at('b')).toMatchObject({ status: 'pending', round: 1, forward: { due: null } })
})

it('every obstacle is named, and a refused move leaves nothing of itself', () => {
  const driver = playing(one)
  driver.done('a')
  const before = structuredClone([driver.row, ...driver.rows.values()])

  const told = moved(driver, define('w', { version: 2 }).step('new', { run }).step('b', { run }))

  expect(told).toEqual(refusal('step "a" is completed, and version 2 has no such step; step "b" is running'))
  expect([driver.row, ...driver.rows.values()]).toEqual(before)
  driver.done('b')
  expect(driver.open).toEqual(['gone.run'])
})

it('at most ten obstacles are named, and how many more there are', () => {
  let many = define('w', { version: 1 }).step('s0', { run }) as ReturnType<typeof define>
  for (let n = 1; n < 12; n++) many = many.step(`s${n}`, { run }) as ReturnType<typeof define>

  const told = moved(playing(many as unknown as Defined), two)

  expect(told).toMatchObject({ refused: { what: expect.stringMatching(/"s7" is running; and 2 more\.$/) } })
})

it('a step that has ended, or waits, does not depend on one that has not ended', () => {
  const waiting = define('w', { version: 1 }).step('a', { run }).waitForSignal('paid')
  const driver = playing(waiting)
  driver.done('a')
  driver.done('paid')
  const later = define('w', { version: 2 })
    .step('new', { run })
    .step('a', { dependsOn: ['new'], run })
    .waitForSignal('paid', { dependsOn: ['new'] })

  expect(moved(driver, later)).toEqual(
    refusal(
      'step "a" has ended, but depends in version 2 on "new", which has not ended; step "paid" is waiting, but depends in version 2 on "new", which has not ended',
    ),
  )
})

it('a step that waits is not of another kind', () => {
  const driver = playing(define('w', { version: 1 }).waitForSignal('a'))
  driver.done('a')

  expect(moved(driver, define('w', { version: 2 }).step('a', { run }))).toEqual(
    refusal('step "a" is waiting, and is of another kind in version 2'),
  )
})

it('a step that was skipped by its condition may be skipped in the new version too', () => {
  const asked = define('w', { version: 1 })
    .step('a', { run, when: () => false })
    .step('b', { run })
  const driver = playing(asked)
  driver.done('a', { yes: false })
  driver.fails('b', { retryAt: 9_000 })

  const told = moved(driver, define('w', { version: 2 }).step('a', { run }).step('b', { run }))

  expect(told).toEqual(refusal('step "a" was skipped by its condition, and version 2 always runs it'))
})

it('a failure past which the run continued is borne by the new version too', () => {
  const bearing = define('w', { version: 1 }).step('a', { run, onFailure: 'continue' }).step('b', { run })
  const driver = playing(bearing)
  driver.fails('a')
  driver.fails('b', { retryAt: 9_000 })

  const told = moved(driver, define('w', { version: 2 }).step('a', { run }).step('b', { run }))

  expect(told).toEqual(refusal('the run continued past the failure of step "a", and version 2 would stop'))
})

it('a run whose map or loop has its items already stays where it is', () => {
  const mapping = (version: number) => define('w', { version }).map('a', { over: () => [1], run: () => 1 })
  const driver = playing(mapping(1))
  driver.done('a', { items: items(1) })

  expect(moved(driver, two)).toEqual(refusal('a map or loop of it has its items already'))
})

it('a step that never began may become a map', () => {
  const driver = between(one)

  moved(
    driver,
    define('w', { version: 2 })
      .step('a', { run })
      .map('b', { dependsOn: ['a'], over: () => [1], run: () => 1 }),
  )
  driver.fold({ type: 'resume' })

  expect(driver.open).toEqual(['b.open'])
})

it('a batch does not become a single input', () => {
  const driver = between(one)
  const spec = { ...specOf(two), batch: true as const }

  expect(driver.fold({ type: 'migrate', spec, name: 'w', version: 2 })).toEqual(
    refusal('the run has a single input, and version 2 takes a batch'),
  )
})
