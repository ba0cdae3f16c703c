import { define, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A child that fails after its first step, which is undone. */
const child = define('child', { version: 1, priority: 3 })
  .step('hold', { priority: 2, run: () => 1, compensate: () => {} })
  .step('go', { dependsOn: ['hold'], run: () => 2 })

const priorityOf = (run: { readonly priority: number } | undefined) => run?.priority

describe('a child', () => {
  it('has the priority of its parent, and that of its own definition if the parent has none', async () => {
    const { clock, worker } = engines()
    const parent = define('parent', { version: 1 }).workflow('child', child, { input: () => null })
    const engine = await worker({ workflows: [parent] })
    const urgent = await engine.run(parent, undefined, { priority: 7 })
    const plain = await engine.run(parent)
    await clock.runUntil(Promise.all([urgent.result(), plain.result()]))

    const [ofUrgent] = await engine.runs.list({ parentId: urgent.id })
    const [ofPlain] = await engine.runs.list({ parentId: plain.id })
    expect([priorityOf(ofUrgent), priorityOf(ofPlain)]).toEqual([7, 3])
  })

  it('of each item, and a child of that, has it too', async () => {
    const { clock, worker } = engines()
    const leaf = define('leaf', { version: 1, input: unchecked<number>() }).step('a', { run: () => 1 })
    const middle = define('middle', { version: 1, input: unchecked<number>() }).workflow('leaf', leaf, {
      input: () => 1,
    })
    const top = define('top', { version: 1 }).workflow('each', middle, {
      over: () => [1, 2],
      input: ({ item }) => item,
    })
    const engine = await worker({ workflows: [top] })
    const run = await engine.run(top, undefined, { priority: 9 })
    await clock.runUntil(run.result())

    const runs = await engine.runs.list({})
    expect(runs.map((each) => [each.workflow, each.priority]).sort()).toEqual([
      ['leaf', 9],
      ['leaf', 9],
      ['middle', 9],
      ['middle', 9],
      ['top', 9],
    ])
  })
})

describe('a step that has waited', () => {
  it('for a signal, for a time, or for a retry takes the place of its run again', async () => {
    const { clock, engine, worker } = engines()
    const order: unknown[] = []
    let tries = 0
    const note = ({ input }: { input: unknown }) => void order.push(input)
    const waiting = define('waiting', { version: 1 })
      .waitForSignal('call', { schema: unchecked<null>() })
      .step('after', { dependsOn: ['call'], run: note })
    const sleeping = define('sleeping', { version: 1 })
      .sleep('nap', { for: '10m' })
      .step('after', { dependsOn: ['nap'], run: note })
    const choosing = define('choosing', { version: 1 })
      .choose('which', { cases: ['one', 'other'], on: () => 'one' })
      .step('after', { when: { which: 'one' }, run: note })
    const failing = define('failing', { version: 1 }).step('a', {
      retry: { attempts: 2, initial: '10m', max: '10m', jitter: false },
      run: (context) => {
        tries += 1
        if (tries === 1) throw new Error('not now')
        note(context)
      },
    })
    const blocker = define('blocker', { version: 1 }).step('work', {
      run: () => new Promise<void>((resolve) => clock.after(15 * 60_000, resolve)),
    })
    const plain = define('plain', { version: 1 }).step('a', { run: note })
    const workflows = [waiting, sleeping, choosing, failing, blocker, plain]
    const first = await worker({ workflows, concurrency: 1 })
    const urgent = { priority: 100 }
    const signalled = await first.run(waiting, 'signalled', urgent)
    const napping = await first.run(sleeping, 'slept', urgent)
    const retried = await first.run(failing, 'retried', urgent)
    await clock.advance('1m')
    await first.run(blocker)
    await clock.advance(1_000)

    // All of this becomes ready while the only slot is taken.
    const starter = engine({ workflows })
    const before = await starter.run(plain, 'plain')
    await clock.advance('2m')
    await signalled.signal('call', null)
    const chosen = await starter.run(choosing, 'chosen', urgent)
    const runs = [signalled, napping, retried, before, chosen]
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(order.at(-1)).toBe('plain')
    expect([...order].sort()).toEqual(['chosen', 'plain', 'retried', 'signalled', 'slept'])
  })
})

describe('a process without the definition', () => {
  const urgent = define('urgent', { version: 1, priority: 20 })
    .step('a', { priority: 5, run: () => 1 })
    .step('b', { dependsOn: ['a'], run: () => 1 })

  it('starts runs by name with the priorities of the workflow and of its steps', async () => {
    const { engine } = engines()
    const owner = engine({ workflows: [urgent] })
    await owner.run(urgent)
    const other = engine()

    const byName = await other.run('urgent')
    const own = await other.run('urgent', undefined, { priority: 1 })
    const zero = await other.run('urgent', undefined, { priority: 0 })

    expect(byName.checked).toBe(false)
    const priorities = []
    for (const { id } of [byName, own, zero]) priorities.push(priorityOf(await other.runs.get(id)))
    expect(priorities).toEqual([20, 1, 0])
  })

  it('begins the urgent step first', async () => {
    const { clock, engine, worker } = engines()
    const order: string[] = []
    const make = (name: string, priority: number) =>
      define(name, { version: 1 }).step('a', { priority, run: () => order.push(name) })
    const workflows = [make('low', 0), make('high', 5)]
    const owner = engine({ workflows })
    for (const workflow of workflows) await owner.cancel((await owner.run(workflow)).id)
    const other = engine()
    const runs = [await other.run('low'), await other.run('high')]

    await worker({ workflows, concurrency: 1 })
    await clock.runUntil(Promise.all(runs.map((run) => run.result())))

    expect(order).toEqual(['high', 'low'])
  })

  it('puts schedules whose runs have them', async () => {
    const { clock, engine, worker } = engines()
    const owner = engine({ workflows: [urgent] })
    await owner.run(urgent)
    const other = await worker({ workflows: [child] })
    await other.schedules.put('s', { every: '1h', workflow: 'urgent' })
    await clock.advance('1h')

    expect(priorityOf((await other.runs.list({ tags: ['schedule:s'] }))[0])).toBe(20)
  })

  it('keeps the checksum of a version whose priorities have changed', async () => {
    const { engine } = engines()
    await engine({ workflows: [urgent] }).run(urgent)
    const changed = define('urgent', { version: 1, priority: 30 })
      .step('a', { run: () => 1 })
      .step('b', { dependsOn: ['a'], run: () => 1 })

    const started = await engine({ workflows: [changed] }).run(changed)
    expect(priorityOf(await started.status())).toBe(30)
    expect(changed.record.checksum).toBe(urgent.record.checksum)
  })
})

describe('a run that moves to another version', () => {
  it('gives a step that it gains the priority of the run and of the step together', async () => {
    const { clock, adapter, worker } = engines()
    const one = define('moving', { version: 1 }).waitForSignal('call', { schema: unchecked<null>() })
    const two = define('moving', { version: 2 })
      .waitForSignal('call', { schema: unchecked<null>() })
      .step('more', { dependsOn: ['call'], priority: 4, run: () => 1 })
    const engine = await worker({ workflows: [one, two] })
    const run = await engine.run(one, undefined, { priority: 3 })
    await clock.advance(1_000)
    await engine.migrateRun(run.id, two)

    const { run: moved, steps } = (await adapter.readRun(run.id))!
    expect([moved.priority, ...steps.map(({ priority }) => priority)]).toEqual([3, 3, 7])
  })
})
