import { describe, expect, it } from 'vitest'
import { define, type WorkflowDefinition } from '../../src/definition/index.ts'
import type { GraphSpec, StepSpec } from '../../src/machine/kinds/graph.ts'
import { work } from '../../src/machine/kinds/work.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import type { Spec } from '../../src/machine/state.ts'
import { Driver } from './driver.ts'

const run = () => 1
const compensate = () => {}
const specOf = ({ record }: { readonly record: WorkflowDefinition['record'] }): GraphSpec =>
  specOfShape(record.shape)
const playing = (
  definition: Parameters<typeof specOf>[0],
  started?: ConstructorParameters<typeof Driver>[1],
) => new Driver(specOf(definition), started)

const _step = (name: string, more: Partial<StepSpec> = {}): Spec => ({
  of: work,
  name,
  compensate: 'completed',
  ...more,
})

describe('a child', () => {
  const child = define('child', { version: 1 }).step('work', { run, compensate })
  const parent = define('parent', { version: 1 })
    .workflow('sub', child, {})
    .step('last', { dependsOn: ['sub'], run })

  it('is started once, waited for, and undone with its parent after it completed', () => {
    const driver = playing(parent)
    driver.done('sub')
    const id = `run/${driver.at('sub').no}:1`
    driver.tell(['sub'], { child: id, ended: 'completed' })
    driver.fails('last')
    driver.done('sub', { keep: false })
    expect(driver.mail).toEqual([{ to: id, type: 'undo' }])
    expect(driver.at().status).toBe('undoing')

    driver.tell(['sub'], { child: id, undone: true })

    expect(driver.at()).toMatchObject({ status: 'undone', of: 'failed' })
  })

  it('that is detached is started, and not waited for', () => {
    const detached = define('detached', { version: 1 }).workflow('sub', child, { detached: true })
    const driver = playing(detached)
    driver.done('sub')

    expect(driver.at()).toMatchObject({ status: 'completed' })
    expect(driver.at('sub')).toMatchObject({ output: { runId: `run/${driver.at('sub').no}:1` } })
  })

  it('that goes on is cancelled when its parent stops, and only the undo of its step waits for it', () => {
    const driver = playing(parent)
    driver.done('sub')
    const id = `run/${driver.at('sub').no}:1`
    driver.fold({ type: 'cancel' })
    expect(driver.mail).toEqual([{ to: id, type: 'cancel' }])
    expect(driver.at('sub')).toMatchObject({ status: 'undoing', of: 'cancelled' })
    driver.done('sub', { keep: false })
    expect(driver.at().status).toBe('undoing')

    driver.tell(['sub'], { child: id, ended: 'cancelled' })

    expect(driver.at()).toMatchObject({ status: 'undone', of: 'cancelled' })
  })

  it('whose effects are to stay leaves its step as it was', () => {
    const driver = playing(parent)
    driver.done('sub')
    driver.tell(['sub'], { child: `run/${driver.at('sub').no}:1`, ended: 'completed' })
    driver.fails('last')

    driver.done('sub', { keep: true })

    expect(driver.at('sub')).toMatchObject({ status: 'completed', undo: null, note: { kept: true } })
    expect(driver.mail).toEqual([])
  })

  it('is found again by a retry that continues its round, and told to go on', () => {
    const driver = playing(parent)
    driver.done('sub')
    const id = `run/${driver.at('sub').no}:1`
    driver.fold({ type: 'cancel', compensate: false })
    expect(driver.mail).toEqual([{ to: id, type: 'cancel', keep: true }])

    driver.fold({ type: 'retry' })
    driver.done('sub')

    expect(driver.mail.at(-1)).toEqual({ to: id, type: 'retry' })
    driver.tell(['sub'], { child: id, ended: 'completed', output: 'late' })
    expect(driver.at('sub')).toMatchObject({ status: 'completed', output: 'late' })
  })

  it('is paused and resumed with its parent', () => {
    const driver = playing(parent)
    driver.done('sub')
    const to = `run/${driver.at('sub').no}:1`
    driver.fold({ type: 'pause' })
    driver.fold({ type: 'resume' })

    expect(driver.mail).toEqual([
      { to, type: 'pause' },
      { to, type: 'resume' },
    ])
  })

  it('that was paused by itself stays so when its parent is resumed', () => {
    const driver = playing(child, { parent: 'parent' })
    driver.fold({ type: 'pause' })
    driver.fold({ type: 'pause', by: 'parent' })
    expect(driver.fold({ type: 'resume', by: 'parent' })).toEqual({ changed: false })

    const obedient = playing(child, { parent: 'parent' })
    obedient.fold({ type: 'pause', by: 'parent' })
    expect(obedient.fold({ type: 'resume', by: 'parent' })).toMatchObject({ changed: true })
  })

  it('is looked at again if its step is retried while it waits, and another is started if it is gone', () => {
    const driver = playing(parent)
    driver.done('sub')
    const to = `run/${driver.at('sub').no}:1`
    driver.operate('retryStep', 'sub')
    expect(driver.mail).toEqual([{ to, type: 'retry' }])

    driver.tell(['sub'], { child: to, gone: true })

    expect([driver.open, driver.at('sub').round]).toEqual([['sub.open'], 2])
  })

  it('is not started in a pause', () => {
    const driver = playing(parent)
    driver.fold({ type: 'pause' })
    driver.done('sub')
    expect([driver.at('sub').status, driver.open]).toEqual(['running', []])

    driver.fold({ type: 'resume' })

    expect(driver.open).toEqual(['sub.open'])
  })

  it('that is a round of a loop has ended before the loop is asked whether it goes on', () => {
    const looping = define('looping', { version: 1 }).repeat('sub', child, {
      until: () => true,
      max: 3,
    })
    const driver = playing(looping)
    driver.done('sub')
    driver.done('0')
    driver.tell(['sub', 0], { child: `run/${driver.at('sub', 0).no}:1`, ended: 'completed' })
    expect(driver.open).toEqual(['sub.until'])

    driver.done('sub', { more: true })

    expect(driver.open).toEqual(['1.open'])
    expect(driver.at('sub', 1).label).toBe('2')
  })
})

describe('a wait for a signal', () => {
  const waiting = define('waiting', { version: 1 })
    .step('ask', { run })
    .waitForSignal('paid', { dependsOn: ['ask'] })

  it('takes what came early, and says of each signal what became of it', () => {
    const driver = playing(waiting)
    expect(driver.tell(['paid'], { key: 'k', hash: 'h', body: 1 })).toEqual({ result: 'kept' })
    expect(driver.tell(['paid'], { key: 'k' })).toEqual({ result: 'duplicate', hash: 'h' })
    expect(driver.tell(['paid'], { key: 'other' })).toEqual({ result: 'ignored', reason: 'signalled' })

    driver.done('ask')
    driver.done('paid')

    expect(driver.at()).toMatchObject({ status: 'completed' })
    expect(driver.at('paid').note).toEqual({ signal: { key: 'k', hash: 'h' } })
  })

  it('asks what follows once its time is over, and takes no signal then', () => {
    const driver = playing(waiting)
    driver.done('ask')
    driver.done('paid', { due: 2_000 })
    driver.now = 2_000
    driver.fold({ type: 'due', unit: driver.at('paid').no })
    expect(driver.open).toEqual(['paid.timeout'])
    expect(driver.tell(['paid'], { key: 'late' })).toEqual({ result: 'ignored', reason: 'timed_out' })

    driver.done('paid', { output: 'nothing came' })

    expect(driver.at('paid')).toMatchObject({ status: 'completed', output: 'nothing came' })
  })

  it('says that its run is over, or the step', () => {
    const driver = playing(waiting)
    driver.done('ask')
    driver.done('paid')
    expect(driver.tell(['paid'], { key: 'k' })).toEqual({ result: 'delivered' })
    expect(driver.tell(['ask'], { key: 'k' })).toEqual({ result: 'ignored', reason: 'not_waiting' })

    const stopped = playing(waiting)
    stopped.fails('ask')
    expect(stopped.tell(['paid'], { key: 'k' })).toEqual({ result: 'ignored', reason: 'run_over' })
  })
})

describe('a step that finds no slot', () => {
  const limited = define('limited', { version: 1 })
    .step('a', { run })
    .step('b', { dependsOn: ['a'], run })
  const line = { limit: 'mail', key: 'ann', place: 7 }

  it('stands in a line without an attempt or a loss, and keeps its place until its handler is called', () => {
    const driver = playing(limited)
    driver.lines('a', line)
    expect(driver.at('a')).toMatchObject({ status: 'waiting', note: { line }, forward: { attempt: 0 } })
    driver.takeover()
    expect(driver.open).toEqual([])

    driver.fold({ type: 'permit', unit: driver.at('a').no })

    expect(driver.open).toEqual(['a.run'])
    expect(driver.at('a')).toMatchObject({ note: { line }, forward: { attempt: 1, losses: 0 } })
    driver.done('a')
    expect(driver.at('a').note).toBeNull()
  })

  it('may be skipped then, and those that depend on it are skipped too', () => {
    const driver = playing(limited)
    driver.lines('a', line, { skips: true })

    expect(driver.statuses).toEqual({ a: 'skipped', b: 'skipped' })
    expect(driver.at('a').note).toEqual({ skip: { because: 'limit', limit: 'mail', key: 'ann' } })
  })
})

describe('a step with a transaction of its own', () => {
  const paying = define('paying', { version: 1 })
    .step('pay', { run })
    .step('tell', { dependsOn: ['pay'], run })

  /** The row that says so is committed before the handler is called. */
  const begun = (): Driver => {
    const driver = playing(paying)
    const { unit, serial } = driver.asked[0]!
    driver.fold({ type: 'record', unit, serial, before: true, within: true })
    return driver
  }

  it('has the outcome that its transaction committed, also under an old serial, once', () => {
    const driver = begun()
    driver.takeover()
    const unit = driver.at('pay').no
    driver.fold({ type: 'within', unit, within: 1, output: 'paid' })
    expect([driver.at('pay').output, driver.open]).toEqual(['paid', ['pay.run', 'tell.run']])
    expect(driver.aborted).toEqual(['pay'])

    driver.fold({ type: 'within', unit, within: 1, output: 'paid again' })

    expect(driver.at('pay').output).toBe('paid')
    expect(driver.tombstones).toEqual([])
  })

  it.each(['skipStep', 'drop'] as const)('that an operator ends with %s leaves a tombstone, too', (type) => {
    const driver = begun()
    driver.fails('pay', { retryAt: 9_000 })
    const unit = driver.at('pay').no

    driver.fold(type === 'drop' ? { type } : { type, unit, output: 'by hand' })

    expect(driver.tombstones).toEqual([{ unit, within: 1 }])
    expect(driver.at('pay').within).toBeNull()
  })

  it('that ends otherwise leaves a tombstone, and a retry has another number', () => {
    const driver = begun()
    driver.fails('pay')
    expect(driver.tombstones).toEqual([{ unit: driver.at('pay').no, within: 1 }])
    driver.fold({ type: 'retry' })
    const { unit, serial } = driver.asked[0]!
    driver.fold({ type: 'record', unit, serial, before: true, within: true })

    driver.fold({ type: 'within', unit, within: 1, output: 'from before' })

    expect(driver.at('pay')).toMatchObject({ status: 'running', within: serial, round: 1 })
  })
})
