import { expect, it } from 'vitest'
import { simulate } from '../../src/simulation/index.ts'
import { violationsLike, withVerbs } from './sabotage.ts'

/** Only worlds of seeds that end in 3 have such calls. */
const LIKELY = 13

it('worlds with collected calls open runs and join them', async () => {
  const calls = new Set<string>()
  for (const seed of [3, 13, 23])
    for (const call of Object.keys((await simulate({ seed })).calls)) calls.add(call)
  expect([...calls]).toEqual(expect.arrayContaining(['collectCalls', 'collectCalls in a transaction']))
})

it('the oracle notices a store that counts a call twice when it is sent again', async () => {
  const wanted = /is there twice|is not at place|is in run .* and in another one/
  let ids = 0
  const violations = await violationsLike(wanted, LIKELY, (store) =>
    withVerbs(store, {
      collectCalls: async (calls, options) => {
        const collected = await store.collectCalls(calls, options)
        const again = calls.map((call) => {
          ids += 1
          const callId = `00000000-0000-7000-8000-${String(ids).padStart(12, '0')}`
          return { ...call, callId, runId: callId }
        })
        await store.collectCalls(again, options)
        return collected
      },
    }),
  )
  expect(violations.join()).toMatch(wanted)
})

it('the oracle notices a store that forgets a call', async () => {
  const wanted = /is not at place|which was not its last/
  const violations = await violationsLike(wanted, LIKELY, (store) =>
    withVerbs(store, {
      collectCalls: async (calls, options) => {
        const input = JSON.stringify({ n: 0, key: 'x' })
        const forgotten = calls.map((call) => ({ ...call, input }))
        return store.collectCalls(forgotten, options)
      },
    }),
  )
  expect(violations.join()).toMatch(wanted)
})
