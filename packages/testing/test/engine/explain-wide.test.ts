import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const never = () => new Promise<never>(() => {})

it('an explanation of a wide map names the first items of each status, and counts the others', async () => {
  const { clock, worker } = engines()
  const wide = define('wide', { version: 1 })
    .map('send', { over: () => Array.from({ length: 1_000 }, (_, n) => n), concurrency: 300, run: never })
    .step('after', { dependsOn: ['send'], run: () => 1 })
  const engine = await worker({ workflows: [wide], concurrency: 150 })
  const run = await engine.run(wide)
  await clock.advance('1s')

  const { sentence, steps, more } = await run.explain()
  expect(sentence).toContain('of its 1002 open steps, 150 are running')
  expect(steps).toHaveLength(302)
  expect(steps.find(({ step }) => step === 'send')!.sentence).toContain('and 995 more.')
  expect(more).toEqual([
    {
      map: 'send',
      status: 'pending',
      items: 600,
      sentence: '600 more items of "send": waiting for their turn.',
    },
    {
      map: 'send',
      status: 'ready',
      items: 50,
      sentence: '50 more items of "send": ready, or waiting for a retry or a slot.',
    },
    { map: 'send', status: 'running', items: 50, sentence: '50 more items of "send": running.' },
  ])

  const whole = await engine.explain(run, { itemsMax: 10_000 })
  expect(whole.steps).toHaveLength(1_002)
  expect(whole.more).toEqual([])
  expect(whole.sentence).toBe(sentence)
  await expect(run.explain({ itemsMax: 0 })).rejects.toMatchObject({ code: 'invalid_option' })
})

it('an explanation counts the items that are left out of a paused run, and of one that is being undone', async () => {
  const { clock, worker } = engines()
  const undone = define('undone', { version: 1 })
    .map('send', {
      over: () => Array.from({ length: 500 }, (_, n) => n),
      run: () => 1,
      compensate: never,
    })
    .waitForSignal('go', { dependsOn: ['send'] })
  const engine = await worker({ workflows: [undone], concurrency: 20 })
  const run = await engine.run(undone)
  await clock.advance('1m')
  await run.cancel()
  await clock.advance('1m')

  const { sentence, steps, more } = await run.explain({ itemsMax: 50 })
  expect(sentence).toContain('is being undone: 500 steps to go')
  expect(steps.filter(({ step }) => step.startsWith('send['))).toHaveLength(50)
  expect(more).toMatchObject([{ map: 'send', status: 'compensating', items: 450 }])

  await run.pause()
  const paused = await run.explain({ itemsMax: 50 })
  expect(paused.sentence).toContain('500 steps to go')
  expect(paused.more[0]!.sentence).toBe(
    '450 more items of "send": to be undone, and not begun until the run is resumed.',
  )
})
