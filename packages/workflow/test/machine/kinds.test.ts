import { describe, expect, it } from 'vitest'
import { define, type WorkflowDefinition } from '../../src/definition/index.ts'
import { type FirstSpec, first } from '../../src/machine/kinds/first.ts'
import type { GraphSpec, StepSpec } from '../../src/machine/kinds/graph.ts'
import { type MailboxSpec, mailbox } from '../../src/machine/kinds/mailbox.ts'
import { type FunctionSpec, recorded } from '../../src/machine/kinds/recorded.ts'
import { work } from '../../src/machine/kinds/work.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import type { Spec } from '../../src/machine/state.ts'
import { graphOf } from './definitions.ts'
import { Driver, items } from './driver.ts'

const run = () => 1
const compensate = () => {}
const specOf = ({ record }: { readonly record: WorkflowDefinition['record'] }): GraphSpec =>
  specOfShape(record.shape)
const playing = (definition: Parameters<typeof specOf>[0]) => new Driver(specOf(definition))

const step = (name: string, more: Partial<StepSpec> = {}): Spec => ({
  of: work,
  name,
  compensate: 'completed',
  ...more,
})

describe('a stored shape', () => {
  it('has a map or a loop as one unit, by the name that people use, and is read once', () => {
    const imported = define('imported', { version: 1 })
      .step('list', { run })
      .map('resize', { dependsOn: ['list'], over: () => [1], run, compensate })
      .step('tell', { dependsOn: ['resize'], run })
    const spec = specOf(imported)

    expect(spec.steps.map(({ name, after, next }) => [name, after, next])).toEqual([
      ['list', [], ['resize']],
      ['resize', ['list'], ['tell']],
      ['tell', ['resize'], []],
    ])
    expect(spec.steps[1]).toMatchObject({ each: { name: 'resize', compensate: 'completed' } })
    expect(spec.steps[1]).not.toHaveProperty('compensate')
    expect(specOf(imported)).toBe(spec)
  })

  it('says of a choice which cases a step runs with', () => {
    const branching = define('branching', { version: 1 })
      .choose('route', { cases: ['air', 'sea'], on: () => 'air' as const })
      .step('fly', { when: { route: 'air' }, run })
      .step('ship', { when: { route: 'sea' }, run })
    const driver = playing(branching)

    driver.done('route', { output: 'air' })

    expect(driver.open).toEqual(['fly.run'])
    expect(driver.at('ship')).toMatchObject({
      status: 'skipped',
      note: { skip: { because: 'case', choice: 'route', case: 'air' } },
    })
  })
})

describe('a map', () => {
  const packing = define('packing', { version: 1 })
    .map('pack', { over: () => [1, 2, 3], run, compensate })
    .step('ship', { dependsOn: ['pack'], run })

  it('begins its items at once, and goes on when all have ended', () => {
    const driver = playing(packing)
    driver.done('pack', { items: items(3) })
    expect(driver.open).toEqual(['0.run', '1.run', '2.run'])

    for (const item of ['0', '1', '2']) driver.done(item)
    expect(driver.open).toEqual(['pack.gather'])

    driver.done('pack', { output: [1, 2, 3] })

    expect(driver.open).toEqual(['ship.run'])
    expect(driver.at('pack')).toMatchObject({ status: 'completed', output: [1, 2, 3] })
  })

  it('begins as many as its window lets, and another one when one has ended', () => {
    const driver = playing(packing)
    driver.done('pack', { items: items(3), window: 2 })
    expect(driver.open).toEqual(['0.run', '1.run'])
    driver.fails('0', { retryAt: 5_000 })
    expect(driver.open).toEqual(['1.run'])

    driver.done('1')

    expect(driver.open).toEqual(['2.run'])
  })

  it('fails if what its items come to is refused, and its items are undone', () => {
    const driver = playing(packing)
    driver.done('pack', { items: items(1) })
    driver.done('0')
    driver.fails('pack', { retryAt: 2_000 })
    driver.now = 2_000
    driver.fold({ type: 'due', unit: driver.at('pack').no })
    expect(driver.open).toEqual(['pack.gather'])

    driver.fails('pack')

    expect(driver.open).toEqual(['0.undo'])
  })

  it('undoes the items that completed when one fails, in any order, and only those', () => {
    const driver = playing(packing)
    driver.done('pack', { items: items(3) })
    driver.done('0')
    driver.done('2')
    driver.fails('1')

    expect(driver.open.toSorted()).toEqual(['0.undo', '2.undo'])
  })

  it('of a map without items goes on', () => {
    const driver = playing(packing)
    driver.done('pack', { items: [] })
    driver.done('pack', { output: [] })

    expect(driver.open).toEqual(['ship.run'])
  })
})

it('rounds of a loop come one after the other, each after its delay, and are undone in reverse', () => {
  const looping = define('looping', { version: 1 })
    .repeat('fetch', { run, compensate, until: () => false, max: 9 })
    .step('store', { dependsOn: ['fetch'], run })
  const driver = playing(looping)
  driver.done('fetch')
  driver.done('0', { more: true, nextAt: 1_500 })
  expect([driver.open, driver.at('fetch', 1).forward.due]).toEqual([[], 1_500])
  driver.now = 1_500
  driver.fold({ type: 'due', unit: driver.at('fetch', 1).no })
  driver.done('1', { more: false })
  driver.fails('store')

  expect(driver.open).toEqual(['1.undo'])
  driver.done('1')
  expect(driver.open).toEqual(['0.undo'])
})

it('the first of several wins; the others are told to end, and a late success of theirs is undone', () => {
  const racing = graphOf([
    { of: first, name: 'race', each: [step('x'), step('y')], count: 1, losers: 'undo' } as FirstSpec,
  ])
  const driver = new Driver(racing)
  driver.done('0')
  expect(driver.aborted).toEqual(['1'])

  driver.done('1')
  expect(driver.open).toEqual(['1.undo'])
  expect(driver.at().status).toBe('pending')
  driver.done('1')

  expect(driver.at().status).toBe('completed')
  expect([driver.at('race', 0).status, driver.at('race', 1).status]).toEqual(['completed', 'undone'])
})

it('what depends on a race goes on before its losers have ended; the run ends after them', () => {
  const racing = graphOf([
    { of: first, name: 'race', each: [step('x'), step('y')], count: 1, losers: 'undo' } as FirstSpec,
    { of: work, name: 'after', dependsOn: ['race'] },
  ])
  const driver = new Driver(racing)
  driver.done('0')
  expect(driver.open).toEqual(['1.run', 'after.run'])
  driver.done('after')
  expect(driver.at('race')).toMatchObject({ status: 'open', note: { told: true } })
  driver.reload()

  driver.fails('1')

  expect(driver.at().status).toBe('completed')
})

it('a race whose turn in an undo a pause holds back is past it once its losers have undone themselves', () => {
  const racing = graphOf([
    {
      of: first,
      name: 'race',
      each: [{ of: work, name: 'x' }, step('y')],
      count: 1,
      losers: 'undo',
    } as FirstSpec,
    { of: work, name: 'after', compensate: 'completed', dependsOn: ['race'] },
    { of: work, name: 'last', dependsOn: ['after'] },
  ])
  const driver = new Driver(racing)
  driver.done('0')
  driver.done('1')
  driver.done('after')
  driver.fails('last')
  driver.fold({ type: 'pause' })
  driver.done('after')

  driver.done('1')
  driver.reload()
  driver.fold({ type: 'resume' })

  expect(driver.at().status).toBe('undone')
  expect(driver.at('race').status).toBe('completed')
})

it('a mailbox takes messages in their order, one at a time, answers each sender, and ends once it is closed', () => {
  const driver = new Driver(graphOf([{ of: mailbox, name: 'box', each: step('message') } as MailboxSpec]))
  driver.tell(['box'], { body: 'a', from: 'ann' })
  driver.tell(['box'], { body: 'b', from: 'bob' })
  expect(driver.open).toEqual(['0.run'])
  driver.done('0', { output: 'to ann' })
  driver.tell(['box'], { close: true })
  driver.done('1', { output: 'to bob' })

  expect(driver.mail).toEqual([
    { to: 'ann', type: 'reply', body: 'to ann' },
    { to: 'bob', type: 'reply', body: 'to bob' },
  ])
  expect(driver.at().status).toBe('completed')
})

it('a function is answered from its rows after a takeover, and its records are undone in reverse', () => {
  const spec: FunctionSpec = {
    of: recorded,
    name: 'onboard',
    steps: { account: step('account'), mail: step('mail') },
  }
  const driver = new Driver(spec)
  const call = (key: string) => {
    const body = driver.asked.find(({ phase }) => phase === 'body')!
    driver.fold({ type: 'call', unit: 0, serial: body.serial, key, kind: 'work' })
  }
  call('account#0')
  driver.done('account#0')
  driver.takeover()
  call('account#0')
  call('mail#0')
  expect(driver.open).toEqual(['root.body', 'mail#0.run'])
  driver.done('mail#0')
  driver.fails('root')

  expect(driver.open).toEqual(['mail#0.undo'])
  driver.done('mail#0')
  expect(driver.open).toEqual(['account#0.undo'])
})

it('a chain of 10,000 steps ends without recursion', () => {
  const steps = Array.from({ length: 10_000 }, (_, n) => ({
    ...step(`s${n}`),
    dependsOn: n === 0 ? [] : [`s${n - 1}`],
    onSkipped: undefined,
  }))
  const driver = new Driver(graphOf(steps as never))
  driver.fold({ type: 'pause' })
  driver.reload()
  driver.fold({ type: 'resume' })

  driver.fold({ type: 'cancel' })
  driver.done('s0')
  driver.done('s0')

  expect(driver.at().status).toBe('undone')
}, 60_000)
