import { type Adapter, type Outcome, skipText } from '@belay/workflow/adapter'
import { expect, it } from 'vitest'
import { simulate } from '../../src/simulation/index.ts'
import { violationsLike, withVerbs } from './sabotage.ts'

it('in some worlds steps are skipped at a limit for which they do not wait', async () => {
  const skipped = new Set<string>()
  const watched = (store: Adapter) =>
    withVerbs(store, {
      settle: async (request) => {
        const settlement = await store.settle(request)
        for (const result of settlement.results) {
          if (typeof result === 'object' && 'full' in result) skipped.add(result.full.limit)
        }
        return settlement
      },
    })

  // Seeds for which this holds. If the generator changes, others may have to be found.
  for (const seed of SKIPPING) await simulate({ seed, sabotage: watched })

  expect(skipped).not.toEqual(new Set())
})

it('the oracle notices a store that skips a step which would have waited', async () => {
  const wanted = /was skipped for no reason: its branch is .*"limit"/
  const violations = await violationsLike(wanted, SKIPPING[0]!, (store) =>
    withVerbs(store, {
      settle: (request) => store.settle({ ...request, outcomes: request.outcomes.map(leaving) }),
    }),
  )
  expect(violations.join()).toMatch(wanted)
})

const SKIPPING = [27, 56, 107]

function leaving(outcome: Outcome): Outcome {
  if (outcome.type !== 'enters') return outcome
  const entries = outcome.entries.map((entry) => {
    const { limit, key, of } = entry
    return of === 'run' ? entry : { ...entry, ifFull: skipText({ because: 'limit', limit, key }) }
  })
  return { ...outcome, entries }
}
