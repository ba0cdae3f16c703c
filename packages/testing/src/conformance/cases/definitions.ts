import { DEFINITION_NUMBERS_MAX, definitionNumber } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { type Cases, withSecond } from '../case.ts'
import { chainEdges, DIAMOND, definitionRecord, fanEdges, PAIR } from '../scenario/index.ts'
import { cancelledRun } from './ended-runs.ts'

export const definitionCases: Cases = {
  'saved definitions come back in order and unchanged, each with its own id': async ({ adapter }) => {
    const records = [definitionRecord('one', DIAMOND), definitionRecord('two', PAIR)]

    const saved = await adapter.saveDefinitions(records)

    expect(saved.map(({ id: _, ...record }) => record)).toEqual(records)
    expect(new Set(saved.map(({ id }) => id)).size).toBe(2)
    expect(saved.every(({ id }) => Number.isInteger(id))).toBe(true)
  },

  'the number of a definition follows from its content, whatever was stored before it': async ({
    adapter,
  }) => {
    const [first, second] = [definitionRecord('one', DIAMOND), definitionRecord('two', PAIR)]
    await adapter.saveDefinitions([definitionRecord('before', PAIR)])

    const saved = [...(await adapter.saveDefinitions([second])), ...(await adapter.saveDefinitions([first]))]

    // A number in sequence would come to mean another definition once a store has lost the row that had it.
    const numbers = [second, first].map((record) =>
      Array.from({ length: DEFINITION_NUMBERS_MAX }, (_, tries) => definitionNumber(record, tries)),
    )
    saved.forEach(({ id }, index) => {
      expect(numbers[index]).toContain(id)
    })
  },

  'a definition keeps the version that it was derived from': async ({ adapter }) => {
    const { shape, ...record } = definitionRecord('one', DIAMOND, 1_000_000_000)
    const derived = { ...record, shape: { ...shape, derivedFrom: 7 } }

    const [saved] = await adapter.saveDefinitions([derived])

    expect(saved?.shape.derivedFrom).toBe(7)
    expect(await adapter.findDefinition({ name: 'one' })).toEqual(saved)
    expect(await adapter.readDefinitions([saved!.id])).toEqual([saved])
  },

  'a definition keeps the priorities of its runs and of its steps, and those that it had first': async ({
    adapter,
  }) => {
    const { shape, ...record } = definitionRecord('one', DIAMOND)
    const withPriority = (priority: number) => ({
      ...record,
      shape: { ...shape, priority, steps: shape.steps.map((step) => ({ ...step, priority })) },
    })

    await adapter.saveDefinitions([withPriority(3)])
    const [again] = await adapter.saveDefinitions([withPriority(4)])

    expect(again).toMatchObject(withPriority(3))
    expect(await adapter.findDefinition({ name: 'one' })).toEqual(again)
  },

  'saving the same definition again keeps its id': async ({ adapter }) => {
    const record = definitionRecord('one', DIAMOND)
    const first = await adapter.saveDefinitions([record])

    const again = await adapter.saveDefinitions([definitionRecord('other', PAIR), record])

    expect(again[1]).toEqual(first[0])
  },

  'another shape under a saved version never overwrites it': async ({ adapter }) => {
    const first = await adapter.saveDefinitions([definitionRecord('one', DIAMOND)])

    const refused = await adapter.saveDefinitions([definitionRecord('one', PAIR)])
    const again = await adapter.saveDefinitions([definitionRecord('one', DIAMOND)])

    expect(refused).toEqual(first)
    expect(again).toEqual(first)
  },

  'a run started after a refused redefinition has the steps of the first definition': async (given) => {
    const graph = await given.graph('one', DIAMOND)
    await given.adapter.saveDefinitions([definitionRecord('one', PAIR)])

    const run = await given.start(graph)

    expect(await run.statuses()).toEqual({ a: 'ready', b: 'pending', c: 'pending', d: 'pending' })
  },

  'several versions of one workflow can be stored': async ({ adapter }) => {
    const [one, two] = await adapter.saveDefinitions([
      definitionRecord('one', DIAMOND, 1),
      definitionRecord('one', PAIR, 2),
    ])

    expect(one?.id).not.toBe(two?.id)
    expect([one?.version, two?.version]).toEqual([1, 2])
    expect(two?.shape.steps.map(({ name }) => name)).toEqual(['a', 'b'])
  },

  'a definition is found by its name and version, or by its name alone in its highest version': async ({
    adapter,
  }) => {
    const saved = await adapter.saveDefinitions([
      definitionRecord('one', DIAMOND, 10),
      definitionRecord('one', PAIR, 9),
      definitionRecord('two', PAIR, 11),
    ])

    expect(await adapter.findDefinition({ name: 'one' })).toEqual(saved[0])
    expect(await adapter.findDefinition({ name: 'one', version: 9 })).toEqual(saved[1])
    expect(await adapter.findDefinition({ name: 'one', version: 11 })).toBeNull()
    expect(await adapter.findDefinition({ name: 'three' })).toBeNull()
  },

  'definitions are listed by the names of their workflows, newest version first, in pages of workflows':
    async ({ adapter }) => {
      const savedAt = await adapter.now()
      await adapter.saveDefinitions([
        definitionRecord('two', PAIR, 9),
        definitionRecord('two', DIAMOND, 10),
        definitionRecord('One', PAIR),
        definitionRecord('one', PAIR),
      ])
      const listed = async (after: string | null, limit: number) =>
        (await adapter.listDefinitions({ after, limit, liveMax: 10 })).map(({ name, version }) => [
          name,
          version,
        ])

      expect(await listed(null, 2)).toEqual([
        ['One', 1],
        ['one', 1],
      ])
      expect(await listed('one', 2)).toEqual([
        ['two', 10],
        ['two', 9],
      ])
      expect(await listed('two', 2)).toEqual([])
      for (const { createdAt } of await adapter.listDefinitions({ after: null, limit: 10, liveMax: 1 })) {
        expect(createdAt).toBeGreaterThanOrEqual(Math.floor(savedAt))
        expect(createdAt).toBeLessThan(savedAt + 60_000)
      }
    },

  'a listed version has the number of its live runs, counted from the oldest up to the limit': async (
    given,
  ) => {
    const old = await given.graph('one', PAIR, 1)
    const current = await given.graph('one', PAIR, 2)
    await given.graph('two', PAIR)
    await given.start(old)
    for (let runs = 0; runs < 3; runs += 1) await given.start(current)
    await cancelledRun(given, old)
    const listed = (liveMax: number) => given.adapter.listDefinitions({ after: null, limit: 10, liveMax })

    expect(await listed(4)).toMatchObject([
      { name: 'one', version: 2, liveRuns: 3, capped: false },
      { name: 'one', version: 1, liveRuns: 1, capped: false },
      { name: 'two', version: 1, liveRuns: 0, capped: false },
    ])
    expect(await listed(2)).toMatchObject([
      { version: 2, liveRuns: 1, capped: true },
      { version: 1, liveRuns: 1, capped: true },
      { name: 'two', liveRuns: 0, capped: false },
    ])
  },

  'a definition saved in a transaction is found in that transaction, by name and by number': async (
    given,
  ) => {
    const { adapter, harness } = given
    await harness.transaction(async (tx) => {
      const [saved] = await adapter.saveDefinitions([definitionRecord('one', PAIR)], { tx })
      expect(await adapter.findDefinition({ name: 'one' }, { tx })).toMatchObject({ id: saved!.id })
      expect(await adapter.readDefinitions([saved!.id], { tx })).toMatchObject([{ name: 'one', version: 1 }])
    })

    const found = await adapter.findDefinition({ name: 'one' })
    expect(await adapter.readDefinitions([found!.id])).toEqual([found])
    for (const tx of [{}, 'begin', null]) {
      const refused = { code: 'invalid_option' }
      await expect(adapter.findDefinition({ name: 'one' }, { tx })).rejects.toMatchObject(refused)
      await expect(adapter.readDefinitions([1], { tx })).rejects.toMatchObject(refused)
    }
  },

  'one definition twice in a call is saved once': async ({ adapter }) => {
    const record = definitionRecord('one', DIAMOND)
    const [first, second] = await adapter.saveDefinitions([record, record])
    expect(second).toEqual(first)
  },

  'the compensation policy of every step is kept': async ({ adapter }) => {
    const steps = (['never', 'completed', 'started'] as const).map((compensate) => ({
      name: compensate,
      dependsOn: [],
      compensate,
    }))

    const [saved] = await adapter.saveDefinitions([
      { name: 'policies', version: 1, checksum: 'c', shape: { steps } },
    ])

    expect(saved?.shape.steps).toEqual(steps)
  },

  'a chain and a fan of 2,000 steps are stored completely': async ({ adapter }) => {
    const records = [definitionRecord('chain', chainEdges(2_000)), definitionRecord('fan', fanEdges(2_000))]
    const saved = await adapter.saveDefinitions(records)
    expect(saved.map(({ shape }) => shape)).toEqual(records.map(({ shape }) => shape))
  },

  'saving nothing returns nothing': async ({ adapter }) => {
    expect(await adapter.saveDefinitions([])).toEqual([])
  },

  'two processes that save one definition at the same moment agree on its id': withSecond(
    async ({ adapter }, second) => {
      const records = [definitionRecord('one', DIAMOND), definitionRecord('two', PAIR)]

      const [mine, theirs] = await Promise.all([
        adapter.saveDefinitions(records),
        second.saveDefinitions([...records].reverse()),
      ])

      expect([...theirs].reverse()).toEqual(mine)
    },
  ),

  'definitions are read by number, and unknown ones are omitted': async (given) => {
    const graph = await given.graph('pair', PAIR)

    const found = await given.adapter.readDefinitions([graph.id, 1_000_000, graph.id])

    expect(found).toEqual([graph.saved])
    expect(await given.adapter.readDefinitions([])).toEqual([])
  },
}
