import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const digest = define('digest', { version: 1 }).step('send', { run: ({ input }) => input as never })
const daily = { cron: '0 3 * * *', workflow: digest }

describe('many schedules in one call', () => {
  it('are put in the order given, and fire like those that were put alone', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [digest] })
    const names = Array.from({ length: 1_000 }, (_, n) => `digest:${999 - n}`)

    const put = await engine.schedules.putMany(
      names.map((name, n) => ({ ...daily, name, input: { n }, tags: ['many'] })),
    )
    await clock.advance('1d')

    expect(put.map(({ name }) => name)).toEqual(names)
    expect(put[7]).toMatchObject({
      input: { n: 7 },
      tags: ['many'],
      nextAt: new Date('2025-01-01T03:00:00Z'),
    })
    expect(await engine.runs.count({ workflow: 'digest', status: 'completed' })).toMatchObject({
      count: 1_000,
    })
  })

  it('change those that are there, and leave the next time of a schedule whose timing stays', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [digest] })
    const before = await engine.schedules.put('a', { every: '1h', workflow: digest })
    await clock.advance('10m')

    const [a, b] = await engine.schedules.putMany([
      { name: 'a', every: '1h', workflow: digest, input: 2 },
      { name: 'b', every: '1h', workflow: 'digest' },
    ])

    expect([a!.nextAt, a!.input]).toEqual([before.nextAt, 2])
    expect(b!.nextAt!.getTime() - a!.nextAt!.getTime()).toBe(600_000)
  })

  it('are all refused if one is, and nothing is stored', async () => {
    const { worker } = engines()
    const engine = await worker({ workflows: [digest] })
    const good = { name: 'good', ...daily }

    await expect(
      engine.schedules.putMany([good, { name: 'bad', cron: 'x', workflow: digest }]),
    ).rejects.toThrow('schedules.putMany(): schedule "bad": cron must be')
    await expect(engine.schedules.putMany([good, good])).rejects.toThrow('holds "good" twice')
    await expect(
      engine.schedules.putMany([good, { name: 'big', ...daily, input: 'x'.repeat(2 ** 20) }]),
    ).rejects.toMatchObject({ code: 'payload_too_large' })
    await expect(
      engine.schedules.putMany([good, { name: 'none', cron: '0 3 * * *', workflow: 'nowhere' }]),
    ).rejects.toMatchObject({ code: 'unknown_workflow' })

    expect(await engine.schedules.list()).toEqual([])
  })

  it.each([
    undefined,
    null,
    {},
    [],
    'a',
    Array.from({ length: 1_001 }, () => ({})),
    [undefined],
    [{ name: 1 }],
  ])('are refused with a sentence if they are %j', async (given) => {
    const { worker } = engines()
    const engine = await worker({ workflows: [digest] })

    await expect(engine.schedules.putMany(given as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^schedules\.putMany\(\)/),
    })
  })
})
