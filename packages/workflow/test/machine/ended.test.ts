import { describe, expect, it } from 'vitest'
import type { WorkflowDefinition } from '../../src/definition/index.ts'
import { define } from '../../src/definition/index.ts'
import { type LoopSpec, loop } from '../../src/machine/kinds/loop.ts'
import { map } from '../../src/machine/kinds/map.ts'
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

/** The run went on past the failure of `a`, and `told` built on it. */
const bearing = define('bearing', { version: 1 })
  .step('a', { run, onFailure: 'continue' })
  .step('told', { dependsOn: ['a'], run, compensate })
  .step('after', { dependsOn: ['told'], run })
  .step('last', { dependsOn: ['after'], run })

/** All of it was kept: the run was cancelled without its undo. */
function borneAndAbandoned(): Driver {
  const driver = playing(bearing)
  driver.fails('a')
  driver.done('told')
  driver.fold({ type: 'pause' })
  driver.fails('after')
  driver.fold({ type: 'cancel', compensate: false })
  return driver
}

describe('retryStep of a run that has ended', () => {
  it('retries the run, and the step runs again with the others', () => {
    const driver = playing(chain)
    driver.fails('a')

    driver.operate('retryStep', 'a')

    expect([driver.at().status, driver.open]).toEqual(['open', ['a.run']])
  })

  it('is refused of a step that completed, or was skipped, and was not undone', () => {
    const kept = playing(define('kept', { version: 1 }).step('a', { run }).step('b', { run }))
    kept.done('a')
    kept.fails('b')

    expect(kept.operate('retryStep', 'a')).toMatchObject({
      refused: { what: 'Step "a" of run run cannot be retried: it has completed.' },
    })
  })

  it('lets a step run again past whose failure the run continued, and all that were told of it run anew', () => {
    const telling = define('telling', { version: 1 })
      .step('a', { run, onFailure: 'continue' })
      .step('told', { dependsOn: ['a'], run })
      .step('last', { dependsOn: ['told'], run })
    const driver = playing(telling)
    driver.fails('a')
    driver.done('told')
    driver.fails('last')

    driver.operate('retryStep', 'a')

    expect(driver.open).toEqual(['a.run'])
    expect([driver.at('a'), driver.at('told'), driver.at('last')]).toMatchObject([
      { status: 'running', round: 1 },
      { status: 'pending', round: 2 },
      { status: 'pending', round: 2 },
    ])
  })

  it('is refused while the effect of a step that was told of its failure stands', () => {
    const driver = borneAndAbandoned()

    expect(driver.operate('retryStep', 'a')).toMatchObject({
      refused: {
        what: 'Step "told" of run run cannot be retried: it would run anew, with a step on whose failure it builds, and what it did was not undone.',
      },
    })
  })

  it('is left to its parent in a child', () => {
    const child = new Driver(specOfShape(chain.record.shape), { parent: 'parent' })
    child.fails('a')

    expect(child.operate('retryStep', 'a')).toMatchObject({
      refused: { what: 'Run run cannot be retried alone: it shares the fate of its parent.' },
    })
    expect(child.operate('skipStep', 'a')).toMatchObject({
      refused: { what: 'Run run cannot be continued alone: it shares the fate of its parent.' },
    })
  })
})

describe('skipStep of a run that has ended', () => {
  it('continues it with the stand-in of the step that failed', () => {
    const driver = playing(chain)
    driver.fails('a')

    driver.fold({ type: 'skipStep', unit: driver.at('a').no, output: 'by hand' })

    expect(driver.at('a')).toMatchObject({ status: 'skipped', round: 1, output: 'by hand' })
    expect(driver.open).toEqual(['b.run'])
  })

  it('completes a run of which nothing else is left', () => {
    const driver = playing(define('last', { version: 1 }).step('a', { run }))
    driver.fails('a')

    const told = driver.operate('skipStep', 'a')

    expect(told).toMatchObject({ changed: true, from: 'failed', to: 'completed' })
    expect(driver.at().status).toBe('completed')
  })

  it('is refused if something that it depends on was undone', () => {
    const driver = playing(chain)
    driver.done('a')
    driver.fails('b')
    driver.done('a')

    expect(driver.operate('skipStep', 'b')).toEqual({
      refused: {
        code: 'action_refused',
        what: 'Step "b" of run run cannot be skipped: steps that it depends on must run again before it.',
        remedy: 'Retry the run, and skip the step while it waits for its next try.',
      },
    })
  })

  it('is refused of a failure past which the run continued, if a retry would keep it', () => {
    const driver = borneAndAbandoned()

    expect(driver.operate('skipStep', 'a')).toMatchObject({
      refused: {
        what: 'Step "a" of run run cannot be skipped: the run continued past its failure.',
        remedy: 'Retry it instead: it runs again, with the steps that were told of it.',
      },
    })
  })

  it('names the step that failed if it is another one', () => {
    const driver = borneAndAbandoned()

    expect(driver.operate('skipStep', 'last')).toMatchObject({
      refused: {
        what: 'Step "last" of run run cannot be skipped: it is cancelled, and what failed is another step.',
        remedy: 'That is "after".',
      },
    })
  })

  it('keeps that a step had succeeded, unless it was undone', () => {
    const one = define('one', { version: 1 })
      .step('a', { run })
      .step('b', { dependsOn: ['a'], run })
    const kept = playing(one)
    kept.fails('a', { succeeded: true })
    const undone = playing(chain)
    undone.fails('a', { succeeded: true })
    undone.done('a')

    kept.operate('skipStep', 'a')
    undone.operate('skipStep', 'a')

    expect([kept.at('a').succeeded, undone.at('a').succeeded]).toEqual([true, false])
  })

  it('skips the failed item of a map, and not the map that failed with it', () => {
    const mapping = graphOf([
      { of: map, name: 'send', each: { of: work, name: 'send' } } as never,
      { of: work, name: 'end', dependsOn: ['send'] },
    ])
    const driver = new Driver(mapping)
    driver.done('send', { items: items(2) })
    driver.done('0')
    driver.fails('1')
    expect(driver.operate('skipStep', 'send')).toMatchObject({
      refused: { remedy: 'That is "send[k1]".' },
    })

    driver.operate('skipStep', 'send', 1)
    driver.done('send')

    expect(driver.open).toEqual(['end.run'])
  })
})

describe('a failure that was told to a step', () => {
  const spec = graphOf([
    { of: work, name: 'a', onFailure: 'continue' },
    { of: map, name: 'send', dependsOn: ['a'], each: { of: work, name: 'send' } } as never,
    { of: work, name: 'end', dependsOn: ['send'] },
  ])

  it('is kept by a retry if that is a map which goes on with its items', () => {
    const driver = new Driver(spec)
    driver.fails('a')
    driver.done('send', { items: items(2) })
    driver.done('0')
    driver.fails('1')

    driver.fold({ type: 'retry' })

    expect(driver.open).toEqual(['1.run'])
    expect(driver.statuses['a']).toBe('failed')
  })

  it('is kept if that step is skipped', () => {
    const driver = playing(bearing)
    driver.fails('a')
    driver.fails('told')

    driver.operate('skipStep', 'told')

    expect([driver.open, driver.statuses['a']]).toEqual([['after.run'], 'failed'])
  })
})

it('a scope that was dropped in its undo, and is cancelled before it opens again, counts nothing of that time', () => {
  const driver = new Driver(
    graphOf([
      { of: loop, name: 'rounds', each: { of: work, name: 'round', compensate: 'completed' } } as LoopSpec,
      { of: work, name: 'last', dependsOn: ['rounds'] },
    ]),
  )
  driver.done('rounds')
  driver.done('0')
  driver.fails('last')
  driver.fails('0', { retryAt: 5_000 })
  driver.fold({ type: 'drop' })
  driver.fold({ type: 'retry' })
  expect(driver.open).toEqual(['rounds.open'])

  driver.fold({ type: 'cancel' })
  driver.done('rounds')

  expect(driver.at().status).toBe('cancelled')
})
