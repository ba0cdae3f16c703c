import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const nightly = define('nightly', { version: 1 }).step('report', { run: () => 1 })
const other = define('other', { version: 1 }).step('rest', { run: () => 1 })

it('the doctor finds schedules that are late, and those that no worker serves', async () => {
  const { clock, engine, worker } = engines()
  const trigger = engine({ workflows: [nightly] })
  await trigger.schedules.put('s', { every: '1h', workflow: nightly })
  expect((await trigger.doctor()).findings.map(({ type }) => type)).toEqual(['schedule_without_worker'])

  await clock.advance('2h')

  const { findings } = await trigger.doctor()
  expect(findings.map(({ type }) => type)).toEqual(['late_schedules', 'schedule_without_worker'])
  expect(findings[0]).toMatchObject({ schedules: ['s'], oldest: new Date('2025-01-01T01:00:00Z') })
  expect((await trigger.schedules.explain('s')).summary).toContain('A worker has to run')

  await worker({ workflows: [other] })
  await clock.advance('1s')
  // A worker of any workflow fires it.
  expect(await trigger.schedules.history('s')).toHaveLength(2)
  const left = (await trigger.doctor()).findings.map(({ type }) => type)
  expect(left).toContain('schedule_without_worker')
  expect(left).not.toContain('late_schedules')
})

it('the doctor finds schedules whose newest firing failed', async () => {
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [nightly] })
  await engine.schedules.put('s', { every: '1h', workflow: nightly, input: 'a' })
  const refuse = () => ({ issues: [{ message: 'no' }] })
  const strict = define('nightly', {
    version: 2,
    input: { '~standard': { version: 1, vendor: 'test', validate: refuse } },
  }).step('report', { run: () => 1 })
  await engine.stop()
  const newer = await worker({ workflows: [strict] })
  await clock.advance('61m')

  expect((await newer.doctor()).findings).toMatchObject([{ type: 'failing_schedules', schedules: ['s'] }])
})

it('options of a schedule that cannot work are refused when it is put', async () => {
  const { schedules } = engines().engine({ workflows: [nightly] })
  const put = (options: object) => schedules.put('s', { workflow: nightly, ...options } as never)
  await expect(put({})).rejects.toThrow('neither cron nor every')
  await expect(put({ cron: '* * *' })).rejects.toThrow('it has 3 fields instead of 5')
  await expect(put({ cron: '0 0 30 2 *' })).rejects.toThrow('never fires')
  await expect(put({ cron: '0 0 * * *', timeZone: 'Mars/Base' })).rejects.toThrow(
    'timeZone must be a time zone',
  )
  await expect(put({ every: '10ms' })).rejects.toThrow('every must be a duration from 1s')
  await expect(put({ every: '1h', timeZone: 'UTC' })).rejects.toThrow('only cron has one')
  await expect(put({ every: '1h', timeAs: 'at', input: 5 })).rejects.toThrow('timeAs needs an input')
  await expect(put({ every: '1h', workflow: 'none' })).rejects.toMatchObject({ code: 'unknown_workflow' })
})
