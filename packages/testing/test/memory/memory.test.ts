import { BelayError } from '@belay/workflow'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { memory, VirtualClock } from '../../src/index.ts'

const RUN = '01920000-0000-7000-8000-000000000001'
const WORKER = '00000000-0000-4000-8000-000000000001'

async function started(adapter = memory()) {
  const [definition] = await adapter.saveDefinitions([
    {
      name: 'pair',
      version: 1,
      checksum: 'c',
      shape: {
        steps: [
          { name: 'a', dependsOn: [], compensate: 'completed' },
          { name: 'b', dependsOn: [0], compensate: 'never' },
        ],
      },
    },
  ])
  const definitionId = definition!.id
  await adapter.startRuns([{ runId: RUN, definitionId, workflow: 'pair', key: null, input: '1' }])
  return { adapter, definitionId }
}

describe('memory adapter', () => {
  test('takes its time from a virtual clock unless told otherwise', async () => {
    const adapter = memory()
    expectTypeOf(adapter.clock).toEqualTypeOf<VirtualClock>()
    const before = await adapter.now()
    await adapter.clock.advance('1m')
    expect((await adapter.now()) - before).toBe(60_000)
  })

  test('takes a given clock, or real time', async () => {
    const clock = new VirtualClock(5)
    expect(await memory({ clock }).now()).toBe(5)
    const real = await memory({ clock: 'real' }).now()
    expect(Math.abs(real - Date.now())).toBeLessThan(5_000)
  })

  test('arguments and answers are copies', async () => {
    const { adapter } = await started()
    const read = await adapter.readRun(RUN)
    Object.assign(read!.run, { status: 'completed' })
    Object.assign(read!.steps[0]!, { status: 'completed' })
    const shown = adapter.dump()
    Object.assign(shown.runs[0]!.steps[0]!, { status: 'failed' })
    Object.assign(shown.definitions[0]!.shape.steps[0]!, { name: 'other' })

    const again = await adapter.readRun(RUN)

    expect(again!.run.status).toBe('running')
    expect(again!.steps.map(({ name, status }) => [name, status])).toEqual([
      ['a', 'ready'],
      ['b', 'pending'],
    ])
  })

  test('a second connection shares rows and hints, and outlives the first', async () => {
    const { adapter } = await started()
    const second = adapter.connect()
    const woken = new Promise<void>((resolve) => second.onWake(resolve))

    adapter.wake()
    await woken
    await adapter.close()

    expect((await second.readRun(RUN))?.run.status).toBe('running')
  })

  test('a closed adapter refuses every verb', async () => {
    const { adapter } = await started()
    await adapter.close()
    await adapter.close()

    const refusal = await adapter.readRun(RUN).catch((error: unknown) => error)

    expect(BelayError.is(refusal) && refusal.code).toBe('engine_closed')
    expect(() => adapter.wake()).not.toThrow()
  })

  test('a broken invariant is an error that names it', async () => {
    const { adapter, definitionId } = await started()
    await adapter.registerWorker({ workerId: WORKER, name: 'w', leaseMs: 1_000 })
    await adapter.claim({ workerId: WORKER, definitionIds: [definitionId], limit: 1 })

    const misdirected = adapter.settle({
      workerId: WORKER,
      handBackMax: 0,
      outcomes: [{ runId: RUN, step: 0, fence: 1, direction: 'forward', definitionId, type: 'compensated' }],
    })

    await expect(misdirected).rejects.toThrow('Invariant outcome_fits_direction is broken')
    expect((await adapter.readRun(RUN))?.steps[0]?.status).toBe('running')
  })
})
