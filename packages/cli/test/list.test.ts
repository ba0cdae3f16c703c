import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 }).step('charge', { run: () => 1 })

async function twoRuns() {
  const store = await testStore()
  const engine = store.engine()
  const first = await engine.run(order, undefined, { key: 'order:1', tags: ['tenant:7'] })
  const second = await engine.run(order, undefined, { key: 'order:2' })
  return { ...store, first, second }
}

describe('belay list', () => {
  it('shows the newest runs first, with short ids on a terminal', async () => {
    const { env, first, second } = await twoRuns()

    const { stdout, stderr, status } = await belay(['list'], { env, columns: 80 })

    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^STATUS +RUN +KEY +WORKFLOW +CREATED$/)
    expect(lines[1]).toMatch(/^► running +[0-9a-f]{8}-[0-9a-f-]+ +order:2 +fulfil-order +\d/)
    expect(lines[1]).toContain(second.id.slice(0, 13))
    expect(lines[2]).toContain(first.id.slice(0, 13))
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(stderr).toBe('')
    expect(status).toBe(0)
  })

  it('gives a pipe whole ids, ISO times, tabs, and no shapes', async () => {
    const { env, first } = await twoRuns()

    const { stdout } = await belay(['list', '--key', 'order:1'], { env })

    const [status, id, key, workflow, createdAt] = stdout.trimEnd().split('\t')
    expect([status, id, key, workflow]).toEqual(['running', first.id, 'order:1', 'fulfil-order'])
    expect(new Date(createdAt!).toISOString()).toBe(createdAt)
  })

  it('finds runs by how their keys begin', async () => {
    const { env } = await twoRuns()
    const keys = async (key: string) =>
      (await belay(['list', '--key', key, '--fields', 'key'], { env })).stdout

    expect((await keys('order:*')).trim().split('\n').toSorted()).toEqual(['order:1', 'order:2'])
    expect((await keys('order:2*')).trim()).toBe('order:2')
    expect(await keys('order:')).toBe('')
  })

  it('gives one document with the fields that were asked for', async () => {
    const { env, first } = await twoRuns()

    const { stdout } = await belay(['list', '--tag', 'tenant:7', '--json', '--fields', 'id,key'], { env })

    expect(JSON.parse(stdout)).toEqual({ runs: [{ id: first.id, key: 'order:1' }], next: null })
  })

  it('says which condition left nothing', async () => {
    const { env } = await twoRuns()

    const { stdout, stderr, status } = await belay(['list', '--status', 'failed', '--tag', 'tenant:7'], {
      env,
    })

    expect(stdout).toBe('')
    expect(stderr).toBe('No run matches. Without --status: 1. Without --tag: 0.\n')
    expect(status).toBe(0)
  })

  it('says each run in a sentence with --plain', async () => {
    const { env, first } = await twoRuns()

    const { stdout } = await belay(['list', '--key', 'order:1', '--plain'], { env, columns: 80 })

    expect(stdout).toMatch(
      /^Run \S+ of "fulfil-order", key order:1, is running\. It was created \d+ s ago\.\n$/,
    )
    expect(stdout).toContain(first.id)
  })

  it('goes on to older runs, and back', async () => {
    const { env, first, second } = await twoRuns()

    const page = await belay(['list', '--limit', '1'], { env, columns: 80 })
    const older = await belay(['list', '--before', second.id.slice(0, 18)], { env })
    const newer = await belay(['list', '--after', 'order:1'], { env })

    expect(page.stderr).toMatch(/^Older: belay list --before [0-9a-f-]+\n$/)
    expect(older.stdout).toContain(first.id)
    expect(newer.stdout).toContain(second.id)
  })
})
