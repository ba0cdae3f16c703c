import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, StoppableClock } from './bench-of-engines.ts'

describe('the registry of workers', () => {
  it('shows a started worker with its slots, its host, its versions, and how busy it is', async () => {
    const { clock, worker, engine } = engines()
    const held = gate()
    const workflow = define('pack', { version: 2 })
      .step('one', { run: () => held.passed })
      .step('two', { run: () => held.passed })
    const working = await worker({
      workflows: [workflow],
      concurrency: 5,
      name: 'packer',
      host: 'machine-7',
      lease: '3s',
    })
    const run = await working.run(workflow)
    await clock.advance('1100ms')

    const [shown, ...others] = await engine().workers.list()

    expect(others).toEqual([])
    expect(shown).toMatchObject({
      name: 'packer',
      host: 'machine-7',
      status: 'live',
      slots: 5,
      busy: 2,
      workflows: [{ name: 'pack', version: 2 }],
    })
    expect(shown?.leaseExpiresAt?.getTime()).toBe(shown!.renewedAt!.getTime() + 3_000)
    held.open()
    await clock.runUntil(run.result())
  })

  it('shows what a worker holds: run, step, attempt, and since when', async () => {
    const { clock, worker, engine } = engines()
    const held = gate()
    const workflow = define('pack', { version: 1 })
      .step('quick', { run: () => 1 })
      .step('slow', { dependsOn: ['quick'], run: () => held.passed })
    const working = await worker({ workflows: [workflow] })
    const run = await working.run(workflow)
    await clock.advance('500ms')
    const observer = engine()

    const id = (await observer.workers.list())[0]!.id
    const holds = await observer.workers.holds(id)

    expect(holds).toEqual([
      {
        runId: run.id,
        workflow: 'pack',
        version: 1,
        step: 'slow',
        direction: 'forward',
        attempt: 1,
        since: (await run.status()).steps[1]!.startedAt,
      },
    ])
    held.open()
    await clock.runUntil(run.result())
    expect(await observer.workers.holds(id)).toEqual([])
  })

  it('does not show a stopped worker any more, and shows a silent one as expired within its lease', async () => {
    const { clock, worker, engine } = engines()
    const workflow = define('idle', { version: 1 }).step('a', { run: () => 1 })
    const stopped = new StoppableClock(clock)
    const leaving = await worker({ workflows: [workflow], name: 'leaving' })
    await worker({ workflows: [workflow], name: 'silent', lease: '3s', clock: stopped })
    await clock.advance('100ms')
    const names = async () => (await engine().workers.list()).map(({ name, status }) => `${name} ${status}`)

    const before = await names()
    await clock.runUntil(leaving.stop())
    stopped.stop()
    await clock.advance('3s')

    expect(before).toEqual(['leaving live', 'silent live'])
    expect(await names()).toEqual(['silent expired'])
  })

  it('a worker that continues under a new id is registered with everything it reported before', async () => {
    const { clock, adapter, worker, engine } = engines()
    const workflow = define('idle', { version: 1 }).step('a', { run: () => 1 })
    await worker({ workflows: [workflow], name: 'again', host: 'h', concurrency: 3, lease: '3s' })
    await clock.advance('100ms')
    const [before] = await engine().workers.list()
    adapter.renew = async () => 'lost'
    await clock.advance('1s')

    const after = (await engine().workers.list()).find(({ id }) => id !== before?.id)

    expect(after).toMatchObject({
      name: 'again',
      host: 'h',
      slots: 3,
      workflows: [{ name: 'idle', version: 1 }],
    })
  })

  it.each([
    [{ limit: 0 }, /workers.list\(\): limit must be a whole number from 1 to 10000; got 0/],
    [{ limits: 3 }, /no option "limits". Did you mean "limit"/],
  ])('refuses to list with %j', async (options, message) => {
    await expect(
      engines()
        .engine()
        .workers.list(options as { limit: number }),
    ).rejects.toThrow(message)
  })

  it('refuses an invalid worker id, and lists nothing for an unknown worker', async () => {
    const { engine } = engines()

    await expect(engine().workers.holds('me')).rejects.toMatchObject({ code: 'invalid_option' })
    expect(await engine().workers.holds('0192ffff-0000-7000-8000-000000000001')).toEqual([])
  })

  it.each(['', 'x'.repeat(256), 7])('refuses the host %j', (host) => {
    expect(() => engines().engine({ host: host as string })).toThrow(/host must be a string of 1 to 255/)
  })
})
