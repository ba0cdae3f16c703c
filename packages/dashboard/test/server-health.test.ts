import { define, type Finding } from '@belay/workflow'
import { describe, expect, test, vi } from 'vitest'
import type { Health } from '../src/api.ts'
import { helpFor } from '../src/view/finding-help.ts'
import { LastHour } from '../src/view/last-hour.ts'
import { opened, read } from './setup/calls.ts'
import { STATUSES } from './setup/statuses.ts'
import { testStore } from './setup/store.ts'

const [ONE, OTHER] = ['01a20ed2-e956-710f-9b00-026f0a2afc59', '01a20ed2-e9a7-72e4-b100-021d97a25874']
const words = { message: '', remedy: '' }
const some = { workflow: 'send invoice', version: 5, oldest: new Date(0), ...words }

describe('what helps against a finding', () => {
  test('of one run: a button for each verb that the dashboard has', () => {
    const paused: Finding = {
      type: 'paused_runs',
      ...some,
      ...{ runs: 1, runIds: [ONE!], actions: [{ verb: 'resume' }, { verb: 'cancel' }] },
    }
    expect(helpFor(paused)).toEqual({
      actions: [
        { verb: 'resume', run: ONE },
        { verb: 'cancel', run: ONE },
      ],
      commands: [],
      query: 'workflow=send+invoice&version=5&status=paused',
    })
  })

  test('of many runs, which it does not name all: commands, and the list', () => {
    const unserved: Finding = {
      type: 'version_without_worker',
      ...some,
      ...{ runs: 18, runIds: [ONE!, OTHER!] },
      actions: [{ verb: 'migrateRun' }, { verb: 'cancel' }, { verb: 'dropForgotten' }],
    }
    const { actions, commands, query } = helpFor(unserved)
    expect(actions).toEqual([])
    expect(commands).toEqual([
      "belay move --workflow 'send invoice' --version 5 --to <version> --dry-run",
      "belay cancel --workflow 'send invoice' --version 5 --reason '…'",
    ])
    expect(query).toMatch(/^workflow=send\+invoice&version=5&status=scheduled&/)
  })

  test('of named runs: a button for each, also for a parent that alone may retry', () => {
    const failing: Finding = {
      type: 'failing_runs',
      ...some,
      ...{ since: new Date('2026-11-24T16:01:00Z'), ended: 9, failed: 4, step: 'ship', runIds: [ONE!] },
      actions: [{ verb: 'retry', run: OTHER! }],
    }
    expect(helpFor(failing)).toEqual({
      actions: [{ verb: 'retry', run: OTHER }],
      commands: [
        "belay retry --workflow 'send invoice' --version 5 --since 2026-11-24T16:01:00.000Z --reason '…'",
      ],
      query: 'workflow=send+invoice&version=5&status=failed-only&status=compensated',
    })
  })

  test('of limits, schedules and the store: commands alone', () => {
    const commandsOf = (finding: Finding) => {
      expect(helpFor(finding).actions).toEqual([])
      expect(helpFor(finding).query).toBeUndefined()
      return helpFor(finding).commands
    }
    const closed = { type: 'closed_limit', limit: "ann's", waiting: 3, ...words } as const
    expect(commandsOf({ ...closed, actions: [{ verb: 'limits.set' }, { verb: 'limits.reset' }] })).toEqual([
      "belay limits reset 'ann'\\''s'",
    ])
    expect(commandsOf({ ...closed, actions: [] })).toEqual([])
    const unserved = { type: 'schedule_without_worker', workflow: 'report', schedules: ['a', 'b'] } as const
    expect(commandsOf({ ...unserved, ...words, actions: [{ verb: 'schedules.pause' }] })).toEqual([
      'belay schedules pause a',
      'belay schedules pause b',
    ])
    const store = { type: 'store_unusable', code: 'schema_outdated', ...words, actions: [] } as const
    expect(commandsOf(store)).toEqual(['belay migrate --dry-run'])
  })

  test('what is about schedules or workers leads to their screens', () => {
    const late = { type: 'late_schedules', schedules: ['a/b', 'c'], oldest: new Date(0), ...words } as const
    const workers = { to: '/workers', words: 'Show the workers' }
    expect(helpFor({ ...late, actions: [] }).links).toEqual([
      { to: '/schedules/a%2Fb', words: 'a/b' },
      { to: '/schedules/c', words: 'c' },
      workers,
    ])
    const failing = { type: 'failing_schedules', schedules: ['c'], ...words, actions: [] } as const
    expect(helpFor(failing).links).toEqual([{ to: '/schedules/c', words: 'c' }])
    const full = { type: 'no_free_slots', ...some, steps: 3, slots: 2, actions: [] } as const
    expect(helpFor(full).links).toEqual([workers])
  })
})

test('a viewer who may not retry is told so at the finding; started and ended runs of the last minute are counted', async () => {
  const store = await testStore()
  const { failed } = STATUSES
  const worker = store.engine({ workflows: [failed, define('idle', { version: 1 }).waitForSignal('go', {})] })
  await worker.start()
  const runs = await Promise.all([1, 2, 3].map(() => worker.run(failed, undefined)))
  for (const run of runs) await run.result().catch(() => {})
  const engine = store.engine()
  const health = async (can: 'all' | readonly []) => read<Health>(opened({ engine }, can), 'health')
  const denied = ({ findings }: Health) => findings.flatMap(({ actions }) => actions.map((one) => one.denied))
  await vi.waitFor(async () => expect(denied(await health('all'))).toEqual([false, false, false]), 20_000)
  const { lastMinute, findings } = await health([])
  expect(findings[0]?.actions.every(({ verb, denied }) => verb === 'retry' && denied)).toBe(true)
  expect(lastMinute).toEqual({ started: { count: 3, capped: false }, ended: { count: 3, capped: false } })
})

test('the last hour is counted from rows, each five minutes once', async () => {
  const asked: number[] = []
  const count = async (from: number, until: number) => {
    expect(until - from).toBe(300_000)
    asked.push(from)
    return asked.length * 5
  }
  const hour = new LastHour()
  const now = Date.UTC(2026, 2, 1, 12, 3)
  const ended = (at: number) => hour.ended(count, at)

  const twelve = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  expect(await ended(now)).toEqual(twelve)
  expect(asked[0]).toBe(Date.UTC(2026, 2, 1, 11, 0))
  expect(await ended(now + 60_000)).toEqual(twelve)
  expect(await ended(now + 300_000)).toEqual([...twelve.slice(1), 13])
})

test('a finding names runs by their keys', async () => {
  const store = await testStore()
  const worker = store.engine({ workflows: [STATUSES.failed] })
  await worker.start()
  for (const key of ['order:1', 'order:2', 'order:3']) {
    await (await worker.run(STATUSES.failed, undefined, { key })).result().catch(() => {})
  }
  const handler = opened({ engine: store.engine() })
  await vi.waitFor(async () => {
    const { findings } = await read<Health>(handler, 'health')
    expect(Object.values(findings[0]!.keys).toSorted()).toEqual(['order:1', 'order:2', 'order:3'])
    for (const id of findings[0]!.runs) expect(findings[0]!.sentence).not.toContain(id)
  }, 20_000)
})
