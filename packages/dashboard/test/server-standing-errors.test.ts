import { define, PermanentError } from '@belay/workflow'
import { expect, test, vi } from 'vitest'
import type { RunPage } from '../src/api.ts'
import { opened, read } from './setup/calls.ts'
import { testStore } from './setup/store.ts'

const broken = new Set(['1', '2', 'charge', 'undo'])

function use(what: string): string {
  if (broken.has(what)) throw new PermanentError(`${what} is broken`)
  return what
}

const batch = define('batch', { version: 1 })
  .step('pay', { pivot: true, run: () => 1 })
  .map('each', {
    dependsOn: ['pay'],
    over: () => ['1', '2', '3'],
    retry: false,
    run: ({ item }) => use(item),
  })
const order = define('order', { version: 1 })
  .step('charge', {
    retry: { attempts: 2, initial: '1ms' },
    run: ({ attempt }) => {
      if (attempt === 1) throw new Error('a hiccup')
    },
    compensate: () => void use('undo'),
  })
  .step('ship', { dependsOn: ['charge'], retry: false, run: () => use('charge') })

async function given() {
  const store = await testStore()
  const worker = store.engine({ workflows: [batch, order] })
  await worker.start()
  const handler = opened({ engine: worker })
  const reached = (id: string, status: string) =>
    vi.waitFor(async () => expect((await worker.runs.get(id))!.status).toBe(status), 20_000)
  const steps = async (id: string, by = handler) => {
    const { run } = await read<RunPage>(by, `runs/${id}`)
    return Object.fromEntries(run.steps.map(({ name, error, undo }) => [name, [error, undo?.error]]))
  }
  return { worker, reached, steps }
}

test('a map tells the error of an item that fails, and not that of one which was repaired', async () => {
  const { worker, reached, steps } = await given()
  const run = await worker.run(batch)
  await reached(run.id, 'parked')
  expect((await steps(run.id))['each']).toEqual(['Item 0: PermanentError: 1 is broken', undefined])
  const blind = opened({ engine: worker }, [])
  expect((await steps(run.id, blind))['each']).toEqual(['Item 0: PermanentError [permanent]', undefined])

  broken.delete('1')
  await run.retryStep('each[0]', { by: 'ada', reason: 'repaired' })
  await vi.waitFor(
    async () =>
      expect((await steps(run.id))['each']).toEqual(['Item 1: PermanentError: 2 is broken', undefined]),
    20_000,
  )
})

test('an error that a later attempt repaired is not the error of the step', async () => {
  const { worker, reached, steps } = await given()
  const run = await worker.run(order)
  await reached(run.id, 'compensation_failed')
  const failed = ['PermanentError: charge is broken', undefined]
  expect(await steps(run.id)).toEqual({
    charge: [undefined, 'PermanentError: undo is broken'],
    ship: failed,
  })

  broken.delete('undo')
  await run.retryCompensation('charge', { by: 'ada', reason: 'repaired' })
  // A reading is shared for a second.
  await vi.waitFor(
    async () => expect(await steps(run.id)).toEqual({ charge: [undefined, undefined], ship: failed }),
    20_000,
  )
})
