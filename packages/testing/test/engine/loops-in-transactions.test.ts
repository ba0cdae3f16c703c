import { createEngine, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

/** A loop in transactions, whose `until` fails at first, and how often its parts were called. */
async function perform(max: number) {
  const adapter = memory()
  const calls: string[] = []
  const workflow = define('w', { version: 1, retry: { attempts: 2 } }).repeat('book', {
    transaction: true,
    max,
    run: ({ round, attempt, tx }) => {
      calls.push(`run ${round} ${attempt} ${tx === undefined ? 'outside' : 'within'}`)
      return round
    },
    until: ({ round }) => {
      if (round === 2 && calls.length === 2) throw new Error('not now')
      return round === 3
    },
    compensate: ({ round }) => void calls.push(`undo ${round}`),
  })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow, null)
  const result = run.result()
  await adapter.clock.runUntil(result.then(String, String))
  await adapter.clock.runUntil(engine.close())
  assertInvariants(adapter.dump())
  return { calls, outcome: await result.catch((error: Error) => error) }
}

describe('a loop in transactions', () => {
  it('tries a round again whose until throws, because its effect was rolled back', async () => {
    const { calls, outcome } = await perform(10)
    expect(outcome).toEqual({ book: 3 })
    expect(calls).toEqual(['run 1 1 within', 'run 2 1 within', 'run 2 2 within', 'run 3 1 within'])
  })

  it('has nothing to undo of a round too many', async () => {
    const { calls, outcome } = await perform(2)
    expect(outcome).toMatchObject({ step: 'book[2]', reason: { error: { code: 'rounds_exhausted' } } })
    expect(calls).toEqual(['run 1 1 within', 'run 2 1 within', 'run 2 2 within', 'undo 1'])
  })
})
