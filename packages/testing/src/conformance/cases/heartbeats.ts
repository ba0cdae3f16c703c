import { type Claim, heartbeatKey } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { compensated, failed, KEYS_MAX, retry, type Scenario, told } from '../scenario/index.ts'

export const heartbeatCases: Cases = {
  'the details of a heartbeat are there for the next attempts, and the latest counts': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [claim, other] = await worker.claimsOf(run, 's0', 's1')
    expect(await detailsFor(given, claim!)).toEqual([])

    await beat(given, worker.id, claim!, '{"page":1}', 1)
    await beat(given, worker.id, claim!, '{"page":2}', 2)
    await beat(given, worker.id, claim!, '{"page":1}', 1)
    await worker.settle([retry(claim!, 0)])

    const next = await worker.claimOf(run, 's0')
    expect(next.attempt).toBe(2)
    expect(await detailsFor(given, next)).toEqual(['{"page":2}'])
    expect(await detailsFor(given, other!)).toEqual([])
  },

  'the details of a heartbeat survive the loss of the worker that sent it, which can send no more': async (
    given,
  ) => {
    const run = await given.loose(1)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 's0')
    await beat(given, worker.id, claim, '3', 1)
    await given.expireLeases()
    await given.sweep()

    expect(await beat(given, worker.id, claim, '4', 2)).toEqual(['lost'])
    const next = await (await given.worker()).claimOf(run, 's0')
    expect(await detailsFor(given, next)).toEqual(['3'])
  },

  'the details of a heartbeat are no value of the run: nobody sees them, and they count as no key': async (
    given,
  ) => {
    const run = await given.loose(1)
    const worker = await given.worker()
    const claim = await worker.claimOf(run, 's0')
    const [before] = await given.adapter.observeRuns([run.id])

    await beat(given, worker.id, claim, '"secret"', 1)

    expect(await given.adapter.readValues(run.id)).toEqual([])
    expect((await run.read()).values).toEqual([])
    expect(await given.adapter.observeRuns([run.id])).toEqual([before])
    const values = ['a', 'b', 'c', 'd'].map((key, n) => told(claim, key, '1', { sequence: n + 2 }))
    expect(await given.adapter.publish({ workerId: worker.id, values, keysMax: KEYS_MAX })).toEqual([
      'stored',
      'stored',
      'stored',
      'too_many',
    ])
    await beat(given, worker.id, claim, '"more"', 9)
    expect(await detailsFor(given, claim)).toEqual(['"more"'])
  },

  'an undo does not see the heartbeats of the step that it undoes': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    const forward = await worker.claimOf(run, 'a')
    await beat(given, worker.id, forward, '"forward"', 1)
    await worker.complete(run, 'a')
    await worker.settle([failed(await worker.claimOf(run, 'b'))])
    await given.undo(run)

    const undo = await worker.claimOf(run, 'a')
    expect(undo.direction).toBe('undo')
    expect(await detailsFor(given, undo)).toEqual([])
    await beat(given, worker.id, undo, '"undo"', 1)
    expect(await detailsFor(given, undo)).toEqual(['"undo"'])
    expect(await detailsFor(given, forward)).toEqual(['"forward"'])
    await worker.settle([compensated(undo)])
  },
}

function beat(given: Scenario, workerId: string, claim: Claim, details: string, sequence: number) {
  const values = [told(claim, heartbeatKey(claim), details, { sequence })]
  return given.adapter.publish({ workerId, values, keysMax: KEYS_MAX })
}

/** What an attempt of this step, round and direction would read. */
async function detailsFor(given: Scenario, claim: Claim): Promise<readonly string[]> {
  const { runId, step } = claim
  const heartbeats = [{ step, key: heartbeatKey(claim) }]
  const [payloads] = await given.adapter.load([{ runId, steps: [step], heartbeats }])
  return payloads!.heartbeats!.map(({ value }) => value)
}
