import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const run = () => 1
const small = (version: number) => define('small', { version }).step('a', { run })

const rich = define('rich', { version: 3 })
  .step('checkFraud', { run })
  .approval('approve', { dependsOn: ['checkFraud'], when: () => true })
  .map('pack', {
    dependsOn: ['approve'],
    over: () => ['a', 'b'],
    run,
    compensate: () => {},
    onSkipped: 'run',
  })
  .choose('route', { dependsOn: ['pack'], cases: ['post', 'express'], on: () => 'post' as const })
  .step('charge', { dependsOn: ['pack'], run, compensate: () => {}, compensateOn: 'started' })
  .step('print', { dependsOn: ['route'], when: { route: 'post' }, run })
  .repeat('poll2', { dependsOn: ['charge'], run, until: () => true, irreversible: true })
  .sleep('rest', { dependsOn: ['print', 'poll2'], for: '1s' })

describe('stored workflows', () => {
  it('are listed by a process without definitions, each with its versions and live runs', async () => {
    const { engine, worker } = engines()
    const other = engine()
    expect(await other.workflows.list()).toEqual([])
    await worker({ workflows: [rich] })
    const starter = engine()
    await starter.run(small(1), undefined)
    await starter.run(small(2), undefined)
    await starter.run(small(2), undefined)

    const listed = await other.workflows.list()

    const live = (count: number) => ({ count, capped: false })
    expect(listed).toEqual([
      { name: 'rich', versions: [{ version: 3, createdAt: expect.any(Date), liveRuns: live(0) }] },
      {
        name: 'small',
        versions: [
          { version: 2, createdAt: expect.any(Date), liveRuns: live(2) },
          { version: 1, createdAt: expect.any(Date), liveRuns: live(1) },
        ],
      },
    ])
  })

  it('are all listed, more than the store gives at a time', async () => {
    const { adapter, engine } = engines()
    const names = Array.from({ length: 120 }, (_, n) => `w${String(n).padStart(3, '0')}`)
    await adapter.saveDefinitions(names.map((name) => define(name, { version: 1 }).step('a', { run }).record))

    expect((await engine().workflows.list()).map(({ name }) => name)).toEqual(names)
  })

  it('show the steps that their author wrote: maps and loops are one step', async () => {
    const { engine, worker } = engines()
    await worker({ workflows: [rich] })

    const { name, version, steps } = await engine().workflows.get('rich')

    expect({ name, version }).toEqual({ name: 'rich', version: 3 })
    const plain = {
      kind: 'work',
      compensate: 'never',
      compensatesAll: false,
      pivot: false,
      irreversible: false,
      children: false,
      cases: [],
      when: undefined,
      skippable: false,
      onFailure: 'stop',
    }
    expect(Object.fromEntries(steps.map((step) => [step.name, step]))).toEqual({
      checkFraud: { ...plain, name: 'checkFraud', dependsOn: [] },
      approve: {
        ...plain,
        ...{
          name: 'approve',
          kind: 'approval',
          dependsOn: ['checkFraud'],
          when: 'function',
          skippable: true,
        },
      },
      pack: { ...plain, name: 'pack', kind: 'map', dependsOn: ['approve'], compensate: 'completed' },
      route: { ...plain, name: 'route', kind: 'choose', dependsOn: ['pack'], cases: ['express', 'post'] },
      charge: { ...plain, name: 'charge', dependsOn: ['pack'], compensate: 'started' },
      print: {
        ...plain,
        ...{ name: 'print', dependsOn: ['route'], skippable: true },
        when: [{ choice: 'route', cases: ['post'] }],
      },
      poll2: { ...plain, name: 'poll2', kind: 'repeat', dependsOn: ['charge'], irreversible: true },
      rest: { ...plain, name: 'rest', kind: 'sleep', dependsOn: ['poll2', 'print'], skippable: true },
    })
    const seen = new Set<string>()
    for (const step of steps) {
      expect(step.dependsOn.filter((dependency) => !seen.has(dependency))).toEqual([])
      seen.add(step.name)
    }
  })

  it('tell pivots, children, and one undo for all items', async () => {
    const { adapter, engine } = engines()
    const paid = define('paid', { version: 1 })
      .map('hold', { over: () => [1], run, compensateAll: () => {} })
      .step('pay', { dependsOn: ['hold'], run, pivot: true })
      .workflow('ship', small(1), { dependsOn: ['pay'] })
      .workflow('labels', small(1), { dependsOn: ['ship'], over: () => [1] })
    await adapter.saveDefinitions([paid.record])

    expect((await engine().workflows.get('paid')).steps).toMatchObject([
      { name: 'hold', kind: 'map', compensatesAll: true, compensate: 'completed' },
      { name: 'pay', kind: 'work', pivot: true },
      { name: 'ship', kind: 'child', children: true },
      { name: 'labels', kind: 'map', children: true },
    ])
  })

  it('are read in the version that is asked for', async () => {
    const { adapter, engine } = engines()
    const longer = define('small', { version: 2 })
      .step('a', { run })
      .step('b', { dependsOn: ['a'], run })
    await adapter.saveDefinitions([small(1).record, longer.record])
    const reader = engine()

    expect((await reader.workflows.get('small')).steps.map(({ name }) => name)).toEqual(['a', 'b'])
    expect((await reader.workflows.get('small', 1)).steps.map(({ name }) => name)).toEqual(['a'])
  })

  it('that are not there are named, with what is meant', async () => {
    const { adapter, engine } = engines()
    await adapter.saveDefinitions([small(1).record, small(2).record])
    const reader = engine()

    await expect(reader.workflows.get('smal')).rejects.toMatchObject({
      code: 'unknown_workflow',
      message: expect.stringContaining('Did you mean "small"?'),
    })
    await expect(reader.workflows.get('small', 3)).rejects.toMatchObject({
      code: 'unknown_workflow',
      message: expect.stringContaining('Give one of its stored versions: 2, 1.'),
    })
    for (const version of [0, 1.5, '1' as unknown as number]) {
      await expect(reader.workflows.get('small', version)).rejects.toMatchObject({ code: 'invalid_option' })
    }
    await reader.close()
    await expect(reader.workflows.list()).rejects.toMatchObject({ code: 'engine_closed' })
  })
})
