import { beforeAll, describe, expect, test } from 'vitest'
import type { VersionsDiff, VersionsPage } from '../src/api/versions.ts'
import type { Session } from '../src/api.ts'
import type { DashboardHandler, DashboardOptions } from '../src/index.ts'
import { get, opened, post, read } from './setup/calls.ts'
import { type Parcels, parcel2, parcels } from './setup/parcels.ts'

describe('versions', () => {
  let at: Parcels
  let handler: DashboardHandler
  beforeAll(async () => {
    at = await parcels({ isShared: true })
    handler = opened({ engine: at.worker, workflows: [parcel2] })
  })

  test('stand by workflow, the newest first, with live runs, workers, and whether runs can be moved to them', async () => {
    const { workflows, more } = await read<VersionsPage>(handler, 'versions')
    expect(more).toBe(false)
    expect(workflows).toEqual([
      {
        name: 'parcel',
        stored: 2,
        versions: [
          {
            ...{ version: 2, createdAt: expect.any(Number), liveRuns: { count: 0, capped: false } },
            ...{ workers: { count: 1, names: ['post'] }, isGiven: true },
          },
          expect.objectContaining({ version: 1, liveRuns: { count: 3, capped: false }, isGiven: false }),
        ],
      },
    ])
    expect((await read<VersionsPage>(handler, 'versions?after=parcel')).workflows).toEqual([])
  })

  test('are compared, by default the newest two, with the command that moves runs', async () => {
    const diff = await read<VersionsDiff>(handler, 'versions/parcel')
    expect(diff).toMatchObject({ from: { version: 1 }, to: { version: 2 } })
    expect(diff.command).toBe("belay move --workflow parcel --version 1 --to 2 --reason '…'")
    expect(diff.from!.steps.map(({ name }) => name)).toEqual(['pack', 'fetched', 'weigh', 'bill'])
    expect(diff.to.steps.find(({ name }) => name === 'photograph')).toEqual({
      ...{ name: 'photograph', kind: 'work', dependsOn: ['inspect'] },
      ...{ compensate: 'never', pivot: false, irreversible: false },
    })
    const back = await read<VersionsDiff>(handler, 'versions/parcel?from=2&to=1')
    expect(back).toMatchObject({ from: { version: 2 }, to: { version: 1, isGiven: false } })
    const oldest = await read<VersionsDiff>(handler, 'versions/parcel?to=1')
    expect(oldest.from).toBeUndefined()
  })

  test.each([
    ['versions/none', 404],
    ['versions/parcel?from=7', 404],
    ['versions/parcel?to=-1', 400],
    ['versions/parcel?to=1&to=2', 400],
    ['versions/parcel?version=1', 400],
    ['versions?before=a', 400],
    ['versions/%E0%A4%A', 404],
  ])('%s is answered with %d', async (path, status) => {
    expect((await get(handler, path)).status).toBe(status)
  })

  test('are read only: a move is a repair, which takes its capability', async () => {
    expect((await post(handler, 'versions', {})).status).toBe(405)
    expect((await post(handler, 'versions/parcel', {})).status).toBe(405)
    const body = { verb: 'move', query: 'workflow=parcel&version=1', version: 2 }
    const others = opened({ engine: at.worker, workflows: [parcel2] }, ['runs.retry'])
    expect((await post(others, 'repairs', body)).status).toBe(403)
    expect((await post(opened({ engine: at.worker }), 'repairs', body)).status).toBe(400)
    expect((await at.worker.runs.count({ workflow: 'parcel', version: 1 })).count).toBe(4)
  })

  test('views of the host come with the session, and are checked at the start', async () => {
    const views = [{ name: 'Parcels', query: 'workflow=parcel&status=failed' }]
    const { views: told } = await read<Session>(opened({ engine: at.worker, views }), 'session')
    expect(told).toEqual(views)
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      ['all', /views is no list/],
      [Array.from({ length: 21 }, () => views[0]), /views is no list/],
      [[null], /has no name/],
      [[{ name: ' ', query: '' }], /has no name/],
      [[{ name: 'a', query: '?status=failed' }], /"a" has no query/],
      [[{ name: 'a', query: 'state=failed' }], /"a" has a query that Runs does not take/],
      [[{ name: 'a', query: 'since=yesterday' }], /"a" has a query that Runs does not take/],
    ]
    for (const [given, message] of wrong) {
      const options = { engine: at.worker, views: given as DashboardOptions['views'] }
      expect(() => opened(options)).toThrow(message)
    }
  })
})
