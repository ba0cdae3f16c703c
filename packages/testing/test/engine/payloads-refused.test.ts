import { define, type Quote, quoteWithoutPayloads, unchecked } from '@belay/workflow'
import { expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const order = define('order', { version: 1, input: unchecked<number>() })
  .step('reserve', { run: ({ input }) => input })
  .step('ship', { dependsOn: ['reserve'], run: ({ deps }) => deps.reserve })

it('a run whose payloads cannot be read keeps the only slot of a worker from no other run', async () => {
  const { clock, worker, engine: client, adapter } = engines()
  const bad = await client({ workflows: [order] }).run(order, 0)
  const others = await client({ workflows: [order] }).runMany(order, [
    { input: 1 },
    { input: 2 },
    { input: 3 },
  ])
  let isBad = true
  const refusing = changed(adapter, {
    // Inputs do not come with claims, as those that are large.
    claim: async (request) => {
      const answer = await adapter.claim(request)
      if (answer === 'lost') return answer
      return { ...answer, claims: answer.claims.map(({ input: _, ...claim }) => claim) }
    },
    load: async (requests) => {
      if (isBad && requests.some(({ runId }) => runId === bad.id)) throw new Error('missing chunk number 0')
      return adapter.load(requests)
    },
  })
  const engine = await worker({ workflows: [order], adapter: refusing, concurrency: 1, logger: false })

  await clock.advance('30s')

  for (const other of others) expect((await other.status()).status).toBe('completed')
  expect((await engine.doctor()).findings).toContainEqual(
    expect.objectContaining({ type: 'refused_by_store', during: 'reading payloads', runId: bad.id }),
  )
  const messages = async (quote?: Quote) =>
    (await engine.doctor({ quote })).findings.map(({ message }) => message)
  expect(await messages()).toContainEqual(expect.stringContaining(`${bad.id}: missing chunk number 0. `))
  expect(await messages(quoteWithoutPayloads)).toContainEqual(
    expect.stringContaining(
      `${bad.id}: only who may read payloads sees the reason. Everything else goes on.`,
    ),
  )

  isBad = false
  expect(await clock.runUntil(bad.result())).toEqual({ reserve: 0, ship: 0 })
})
