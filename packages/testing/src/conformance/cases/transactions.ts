import type { NewRun } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import { besideTransaction, type Cases } from '../case.ts'
import { definitionRecord, type Graph, PAIR, type Scenario } from '../scenario/index.ts'

/** Runs started inside a caller's transaction. */
export const transactionCases: Cases = {
  'a run started in a transaction exists when it commits, and can be claimed': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = newRun(given, graph, { key: 'k', input: '{"a":1}' })

    const started = await given.harness.transaction((tx) => given.adapter.startRuns([run], { tx }))

    expect(started).toEqual([{ runId: run.runId, created: true, definitionId: graph.id, input: '{"a":1}' }])
    expect(await given.adapter.readRun(run.runId)).toMatchObject({ run: { status: 'running', key: 'k' } })
    expect((await (await given.worker()).take()).map(({ runId }) => runId)).toEqual([run.runId])
  },

  'a run started in a transaction that is rolled back never existed, and its key is free': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const before = await given.snapshot()
    const run = newRun(given, graph, { key: 'k' })

    const end = given.harness.transaction(async (tx) => {
      await given.adapter.startRuns([run], { tx })
      throw new Error('changed my mind')
    })

    await expect(end).rejects.toThrow('changed my mind')
    expect(await given.snapshot()).toEqual(before)
    const [again] = await given.adapter.startRuns([newRun(given, graph, { key: 'k' })])
    expect(again).toMatchObject({ created: true })
  },

  'a batch started in a transaction exists completely or not at all': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const runs = ['1', '2', null, null].map((key) => newRun(given, graph, { key }))

    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns(runs.slice(0, 1), { tx })
      await given.adapter.startRuns(runs.slice(1), { tx })
      expect(await given.adapter.startRuns([], { tx })).toEqual([])
    })

    expect(await (await given.worker()).take()).toHaveLength(4)
  },

  'a key started twice in one transaction starts one run, and a taken key starts none': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const first = await given.start(graph, { key: 'taken', input: '"first"' })
    const runs = [1, 2].map((input) => newRun(given, graph, { key: 'k', input: String(input) }))

    const answers = await given.harness.transaction(async (tx) => [
      ...(await given.adapter.startRuns([runs[0]!], { tx })),
      ...(await given.adapter.startRuns([runs[1]!], { tx })),
      ...(await given.adapter.startRuns([newRun(given, graph, { key: 'taken' })], { tx })),
    ])

    const { runId } = runs[0]!
    expect(answers).toMatchObject([
      { runId, created: true, input: '1' },
      { runId, created: false, input: '1' },
      { runId: first.id, created: false, input: '"first"' },
    ])
    expect(await given.adapter.listRuns({ limit: 10 })).toHaveLength(2)
  },

  'a stored definition is found in a transaction too': async (given) => {
    const record = definitionRecord('pair', PAIR)
    const graph = await given.graph('pair', PAIR)
    const run = newRun(given, graph)

    await given.harness.transaction(async (tx) => {
      // Only a store with one session gets `tx`: others save definitions outside the transaction.
      const within = given.adapter.singleSession === true ? { tx } : undefined
      expect(await given.adapter.saveDefinitions([record], within)).toEqual([graph.saved])
      await given.adapter.startRuns([run], { tx })
    })

    expect(await given.adapter.readRun(run.runId)).not.toBeNull()
  },

  'a tx that is not an open transaction of the store is refused, and starts nothing': async (given) => {
    const graph = await given.graph('pair', PAIR)
    const run = newRun(given, graph)
    const past: unknown[] = []
    await given.harness.transaction(async (tx) => past.push(tx))

    for (const tx of [...past, {}, 'begin', 5, true, null, () => {}, { query() {} }]) {
      await expect(given.adapter.startRuns([run], { tx })).rejects.toMatchObject({ code: 'invalid_option' })
    }

    expect(await given.adapter.listRuns({ limit: 10 })).toEqual([])
  },

  'a run started in a transaction is invisible before that commits': besideTransaction(async (given) => {
    const graph = await given.graph('pair', PAIR)
    const worker = await given.worker()
    const run = newRun(given, graph)

    await given.harness.transaction(async (tx) => {
      await given.adapter.startRuns([run], { tx })
      expect(await given.adapter.readRun(run.runId)).toBeNull()
      expect(await worker.take()).toEqual([])
    })

    expect(await worker.take()).toHaveLength(1)
  }),

  'one key in two transactions: if the first rolls back, the second starts its run': besideTransaction(
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      for (let round = 0; round < 10; round += 1) {
        const [first, second] = await collide(given, graph, `k${round}`, 'roll back')

        expect(second).toMatchObject({ created: true })
        expect(await given.adapter.readRun(first!.runId)).toBeNull()
        expect(await given.adapter.readRun(second!.runId)).not.toBeNull()
      }
    },
  ),

  'one key in two transactions: if the first commits, the second gets its run': besideTransaction(
    async (given) => {
      const graph = await given.graph('pair', PAIR)
      for (let round = 0; round < 10; round += 1) {
        const [first, second] = await collide(given, graph, `k${round}`, 'commit')

        expect(second).toMatchObject({ runId: first!.runId, created: false, input: '"first"' })
      }
      expect(await given.adapter.listRuns({ limit: 100 })).toHaveLength(10)
    },
  ),

  'a start outside of transactions also waits for a key that an open transaction has taken':
    besideTransaction(async (given) => {
      const graph = await given.graph('pair', PAIR)
      const runs = [newRun(given, graph, { key: 'k' }), newRun(given, graph, { key: 'k' })]
      let outside: ReturnType<typeof given.adapter.startRuns> | undefined

      await given.harness.transaction(async (tx) => {
        await given.adapter.startRuns([runs[0]!], { tx })
        outside = given.adapter.startRuns([runs[1]!])
        expect(await isOpen(outside)).toBe(true)
      })

      expect(await outside).toMatchObject([{ runId: runs[0]!.runId, created: false }])
    }),
}

/** Starts one key in two transactions, the second while the first is open; then the first commits or rolls back. Returns both answers. */
async function collide(given: Scenario, graph: Graph, key: string, end: 'commit' | 'roll back') {
  const [one, two] = ['"first"', '"second"'].map((input) => newRun(given, graph, { key, input }))
  let second: Promise<readonly { readonly runId: string }[]> | undefined
  let first: readonly { readonly runId: string }[] = []
  await given.harness
    .transaction(async (tx) => {
      first = await given.adapter.startRuns([one!], { tx })
      second = given.harness.transaction((other) => given.adapter.startRuns([two!], { tx: other }))
      expect(await isOpen(second)).toBe(true)
      if (end === 'roll back') throw new Error('rolled back')
    })
    .catch(() => {})
  return [first[0], (await second)?.[0]] as const
}

const LOOK_AFTER_MS = 20

/** Whether a promise is still pending after a moment, because it waits for something. */
async function isOpen(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise<'open'>((resolve) => setTimeout(() => resolve('open'), LOOK_AFTER_MS))
  return (await Promise.race([promise, later])) === 'open'
}

function newRun(given: Scenario, graph: Graph, { key = null, input = '1' }: Partial<NewRun> = {}): NewRun {
  return { runId: given.ids.runId(), definitionId: graph.id, workflow: graph.name, key, input }
}
