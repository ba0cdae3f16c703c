import { define, type Engine, PermanentError } from '@belay/workflow'
import { expect } from 'vitest'

/** reserve → charge → ship, which fails; charge cannot be undone while `bank.isDown`. */
export function parkedWorkflow() {
  const bank = { isDown: true }
  const workflow = define('parked', { version: 1 })
    .step('reserve', { run: () => ({ secret: 'r1' }), compensate: () => {} })
    .step('charge', {
      dependsOn: ['reserve'],
      run: () => 'ch_1',
      compensate: {
        retry: false,
        run: () => {
          if (bank.isDown) throw new Error('the bank of ann is down')
        },
      },
    })
    .step('ship', {
      dependsOn: ['charge'],
      run: () => {
        throw new PermanentError('no address of ann')
      },
    })
  return { bank, workflow }
}

/** What the verbs that repair a step answer, and what an export has, on any store. `until` waits for a promise while the store's time goes on. */
export async function expectRepairs(
  engine: Engine,
  { bank, workflow }: ReturnType<typeof parkedWorkflow>,
  until: <Value>(promise: Promise<Value>) => Promise<Value>,
): Promise<void> {
  const failed = (run: { result(): Promise<unknown> }) => until(run.result().catch((error: Error) => error))
  const [first, second] = await engine.runMany(workflow, [{ input: 1 }, { input: 2 }])
  await Promise.all([failed(first!), failed(second!)])

  expect(await first!.retryCompensation('charge')).toEqual({
    ...{ from: 'compensation_failed', to: 'compensating' },
    next: [],
  })
  await failed(first!)
  expect(await first!.skipCompensation('charge')).toEqual({
    ...{ from: 'compensation_failed', to: 'compensated' },
    next: ['reserve'],
  })
  await until(
    engine.runs
      .handle(first!.id)
      .result()
      .catch(() => {}),
  )
  bank.isDown = false
  await engine.retryCompensation(second!.id, 'charge', { by: 'ann', reason: 'it is up' })
  await failed(second!)
  expect(await second!.retryStep('ship')).toMatchObject({ from: 'failed' })
  await failed(second!)

  const bare: Awaited<ReturnType<Engine['runs']['get']>>[] = []
  for await (const run of engine.runs.export({ workflow: 'parked' })) {
    expect(run.history.length).toBeGreaterThan(0)
    expect(run.attempts.filter(({ direction }) => direction === 'undo').length).toBeGreaterThan(0)
    expect(JSON.stringify(run)).not.toMatch(/ann is|of ann|r1/)
    bare.push(run)
  }
  expect(bare.map((run) => [run?.id, run?.input])).toEqual([
    [second!.id, undefined],
    [first!.id, undefined],
  ])
  for await (const run of engine.runs.export({ workflow: 'parked', payloads: true, limit: 1 })) {
    expect(run).toMatchObject({ id: second!.id, input: 2 })
    expect(run.steps[0]!.output).toEqual({ secret: 'r1' })
    expect(JSON.stringify(run.attempts)).toContain('no address of ann')
  }
}
