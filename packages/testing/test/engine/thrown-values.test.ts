import { runInNewContext } from 'node:vm'
import { define, PermanentError } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const refused = (address: string) => Object.assign(new Error(`refused at ${address}`), { code: 'REFUSED' })

it.each<readonly [string, () => unknown, object]>([
  [
    'several errors',
    () => new AggregateError([refused('::1'), refused('127.0.0.1')]),
    {
      name: 'AggregateError',
      message: 'refused at ::1; refused at 127.0.0.1',
      errors: [{ code: 'REFUSED', stack: expect.stringContaining('thrown-values') }, { code: 'REFUSED' }],
    },
  ],
  [
    'several errors as the cause',
    () => new PermanentError('no host', { cause: new AggregateError([refused('::1')]) }),
    { code: 'permanent', cause: { message: 'refused at ::1', errors: [{ code: 'REFUSED' }] } },
  ],
  [
    'an error of another realm',
    () => runInNewContext("Object.assign(new TypeError('m'), { code: 'E1' })"),
    { name: 'TypeError', message: 'm', code: 'E1', stack: expect.any(String) },
  ],
  [
    'an object with name and message',
    () => ({ name: 'Refusal', message: 'm' }),
    { name: 'Refusal', message: 'm' },
  ],
  ['a bigint', () => 12n, { name: 'Error', message: '12' }],
])('a handler that throws %s: the run tells it', async (_, thrown, stored) => {
  const workflow = define('throwing', { version: 1 }).step('a', {
    retry: false,
    run: () => {
      throw thrown()
    },
  })
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [workflow] })

  const run = await engine.run(workflow)
  await clock.runUntil(run.result().catch(() => {}))

  const { cause, steps } = await run.status()
  expect(steps[0]!.error).toMatchObject(stored)
  expect(cause).toMatchObject({ error: stored })
})

it('an output with inherited members is stored with its own, and nothing is undone', async () => {
  function Money(this: { cents: number }, cents: number): void {
    this.cents = cents
  }
  Money.prototype.add = () => {}
  const workflow = define('paying', { version: 1 }).step('charge', {
    run: (): { cents: number } => Reflect.construct(Money, [500]),
  })
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [workflow] })

  const run = await engine.run(workflow)

  expect(await clock.runUntil(run.result())).toEqual({ charge: { cents: 500 } })
})
