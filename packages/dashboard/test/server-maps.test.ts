import { beforeAll, describe, expect, test } from 'vitest'
import type { ItemErrors, ItemsRequest, ItemsResult } from '../src/api/maps.ts'
import type { Problem } from '../src/api.ts'
import type { DashboardHandler } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { type Mapped, mapped, stands, world } from './setup/maps.ts'
import { HOSTILE } from './setup/waiting.ts'

const QUOTA = ['4', '5', '6', '7', '30']

describe('the items of a map that fail', () => {
  let at: Mapped
  let handler: DashboardHandler
  beforeAll(async () => {
    at = await mapped()
    handler = opened({ engine: at.worker })
  }, 60_000)
  const actions = (run: keyof Mapped['runs']) => `runs/${at.runs[run].id}/items/actions`
  const errors = (run: keyof Mapped['runs'], map = 'post', by = handler) =>
    read<ItemErrors>(by, `runs/${at.runs[run].id}/items/errors?map=${map}`)
  const act = async (run: keyof Mapped['runs'], asked: Omit<ItemsRequest, 'map'> & { map?: string }) => {
    const response = await post(handler, actions(run), { map: 'post', ...asked })
    expect(response.status).toBe(200)
    return ((await response.json()) as ItemsResult).results
  }
  const history = async (run: keyof Mapped['runs']) => (await at.runs[run].history()).length

  test('are grouped by error, with what the engine offers for them', async () => {
    const { groups, read: count, more } = await errors('importing', 'importCity')
    const offered = [
      { verb: 'retryStep', denied: false },
      { verb: 'skipStep', denied: false },
    ]
    expect(groups).toEqual([
      {
        state: 'retrying',
        error: 'Error: quota exceeded for region',
        items: QUOTA.map((key) => ({ index: Number(key), key })),
        ...{ since: expect.any(Number), until: expect.any(Number) },
        actions: offered,
      },
      {
        state: 'retrying',
        error: `Error: ${HOSTILE} is no city`,
        items: [{ index: 9, key: HOSTILE }],
        ...{ since: expect.any(Number), until: expect.any(Number) },
        actions: offered,
      },
    ])
    expect([count, more]).toEqual([6, false])
  })

  test.each([
    ['posting', 'failed', ['retryStep', 'skipStep']],
    ['collecting', 'failed', []],
    ['undoing', 'undo parked', ['retryCompensation', 'skipCompensation']],
    ['failing', 'failed', []],
  ] as const)('%s: one group, %s, with its verbs', async (run, state, verbs) => {
    const { groups } = await errors(run)
    expect(groups.map((group) => [group.state, group.items.map(({ key }) => key)])).toEqual([
      [state, ['1', '3', '5']],
    ])
    expect(groups[0]!.actions.map(({ verb }) => verb)).toEqual(verbs)
  })

  test('a viewer without payloads sees no messages, and one without capabilities is told so', async () => {
    const { groups } = await errors('importing', 'importCity', opened({ engine: at.worker }, ['steps.skip']))
    expect(groups.map(({ error, items }) => [error, items.length])).toEqual([['Error', 6]])
    expect(groups[0]!.actions).toEqual([
      { verb: 'retryStep', denied: true },
      { verb: 'skipStep', denied: false },
    ])
  })

  const ask = { map: 'post', verb: 'retryStep', items: ['1'], dryRun: false, reason: 'x' }
  test.each([
    [[]],
    [{ ...ask, verb: 'cancel' }],
    [{ ...ask, verb: 'constructor' }],
    [{ ...ask, by: 'root' }],
    [{ ...ask, map: '' }],
    [{ ...ask, map: undefined }],
    [{ ...ask, items: [] }],
    [{ ...ask, items: '1' }],
    [{ ...ask, items: [1] }],
    [{ ...ask, items: ['1', '1'] }],
    [{ ...ask, items: ['x'.repeat(601)] }],
    [{ ...ask, items: Array.from({ length: 1_001 }, (_, index) => String(index)) }],
    [{ ...ask, reason: ' ' }],
    [{ ...ask, reason: undefined }],
    [{ ...ask, dryRun: 'no' }],
    [{ ...ask, payload: '1' }],
    [{ ...ask, verb: 'skipStep', payload: '{' }],
  ])('the body %j changes nothing', async (body) => {
    const before = await history('posting')
    const response = await post(handler, actions('posting'), body)
    expect(response.status).toBe(400)
    expect(((await response.json()) as Problem).message).toMatch(/\.$/)
    expect(await history('posting')).toBe(before)
  })

  test('what is not allowed here changes nothing', async () => {
    const before = [await history('posting'), await history('undoing')]
    const only = (can: 'steps.skip' | 'steps.retry' | 'undo.retry' | 'undo.skip') =>
      opened({ engine: at.worker }, [can])
    const undo = { ...ask, verb: 'retryCompensation' }
    const answers = [
      await post(opened({ engine: at.worker, authorize: () => null }), actions('posting'), ask),
      await post(only('steps.skip'), actions('posting'), ask),
      await post(only('steps.skip'), actions('posting'), { ...ask, dryRun: true }),
      await post(only('steps.retry'), actions('posting'), { ...ask, verb: 'skipStep' }),
      await post(only('undo.skip'), actions('undoing'), undo),
      await post(only('undo.retry'), actions('undoing'), { ...undo, verb: 'skipCompensation' }),
      await post(handler, actions('posting'), ask, { origin: 'https://evil.example' }),
      await post(handler, actions('posting'), ask, { 'x-belay': null }),
      await get(handler, actions('posting')),
      await post(handler, `runs/${at.runs.posting.id}/items/errors?map=post`, ask),
      await post(handler, 'runs/00000000-0000-7000-8000-000000000000/items/actions', ask),
      await get(handler, `runs/${at.runs.posting.id}/items/errors`),
    ]
    expect(answers.map(({ status }) => status)).toEqual([
      401, 403, 403, 403, 403, 403, 403, 403, 405, 405, 404, 400,
    ])
    expect([await history('posting'), await history('undoing')]).toEqual(before)
  })

  test('each item is refused for itself, with a reason that reads the same for all', async () => {
    const items = ['1', '0', '3', HOSTILE]
    const before = await history('collecting')
    const results = await act('collecting', { verb: 'retryStep', items, dryRun: false, reason: 'x' })
    const why =
      'cannot be retried: the run continued past its failure. Once the run has ended without completing, it can be retried.'
    expect(results).toEqual([
      { changed: false, why },
      { changed: false, why: 'cannot be retried: it is completed.' },
      { changed: false, why },
      { changed: false, why: 'no item of this run.' },
    ])
    expect(await history('collecting')).toBe(before)
  })

  test('a dry run changes nothing, and a retry reaches those that it offered, with reason and name', async () => {
    const items = [...QUOTA, '0']
    const asked = { map: 'importCity', verb: 'retryStep', items } as const
    const before = await history('importing')
    const dry = await act('importing', { ...asked, dryRun: true })
    expect(dry.map(({ changed }) => changed)).toEqual([true, true, true, true, true, false])
    expect(dry[5]!.why).toMatch(/^not offered by the engine now: not open/)
    expect(await history('importing')).toBe(before)

    world.geocoder = 'open'
    const done = await act('importing', { ...asked, dryRun: false, reason: 'the quota is raised' })
    expect(done).toEqual([
      ...QUOTA.map(() => ({ changed: true })),
      { changed: false, why: 'cannot be retried: it is completed.' },
    ])
    await stands(at.worker, at.runs.importing, 'importCity', { completed: 59, ready: 1 })
    const entries = (await at.runs.importing.history()).slice(before)
    expect(entries.map(({ action, step, by, reason }) => [action, step, by, reason])).toEqual(
      QUOTA.map((key) => ['retry_step', `importCity[${key}]`, 'ada', 'the quota is raised']),
    )
    expect((await errors('importing', 'importCity')).groups).toHaveLength(1)
  })

  test('items are skipped with a stand-in, and undos are retried or marked as undone', async () => {
    const reason = 'closed for good'
    const skip = {
      verb: 'skipStep',
      items: ['1', '3', '5'],
      dryRun: false,
      payload: '"none"',
      reason,
    } as const
    expect(await act('posting', skip)).toEqual([{ changed: true }, { changed: true }, { changed: true }])
    expect(await at.runs.posting.result()).toMatchObject({ post: [0, 'none', 2, 'none', 4, 'none'] })

    world.refunds = 'open'
    await act('undoing', { verb: 'retryCompensation', items: ['1', '3'], dryRun: false, reason })
    await act('undoing', { verb: 'skipCompensation', items: ['5'], dryRun: false, reason })
    await stands(at.worker, at.runs.undoing, 'post', { compensated: 6 })
  })
})
