import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { define, unchecked } from '@belay/workflow'
import { describe, expect, it, onTestFinished } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3, input: unchecked<string>() }).step('ship', {
  retry: false,
  run: ({ input }) => {
    if (input === 'nowhere') throw new Error('no courier')
    return `shipped to ${input}`
  },
})

/** Two completed runs, a failed one, and one that is live. */
async function endedRuns() {
  const store = await testStore()
  const worker = store.engine({ workflows: [order] })
  await worker.start()
  const ended = await worker.runMany(order, [
    { input: 'Zurich', tags: ['tenant:7'] },
    { input: 'Bern' },
    { input: 'nowhere' },
  ])
  await Promise.allSettled(ended.map((run) => run.result()))
  const live = await worker.run(order, 'Basel', { delay: '1d' })
  const left = async () => (await worker.runs.list()).map(({ id }) => id)
  return { ...store, ids: ended.map(({ id }) => id), live, left }
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'belay-prune-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('belay prune', () => {
  it('counts by status in a dry run, and deletes nothing', async () => {
    const { env, left } = await endedRuns()
    const argv = ['prune', '--older-than', '0s', '--dry-run', '--utc']

    const { stdout, stderr, status } = await belay(argv, { env, columns: 80 })
    const { stdout: json } = await belay([...argv, '--json'], { env })

    expect(stdout).toMatch(/^RUNS +STATUS +ENDED\n/)
    expect(stdout).toMatch(/^2 +completed +before \d\d:\d\d:\d\d UTC$/m)
    expect(stdout).toMatch(/^1 +failed +before \d\d:\d\d:\d\d UTC$/m)
    expect(stderr).toBe('Nothing was deleted. To keep copies: --archive runs.ndjson\n')
    expect(status).toBe(0)
    expect(JSON.parse(json)).toMatchObject({
      dryRun: true,
      counts: { completed: { count: 2, capped: false }, failed: { count: 1, capped: false } },
    })
    expect(await left()).toHaveLength(4)
  })

  it('deletes once the number is typed', async () => {
    const { env, live, left } = await endedRuns()

    const { stdout, stderr, status } = await belay(['prune', '--older-than', '0s'], {
      env,
      typed: '3\n',
      columns: 80,
    })

    expect(stderr).toContain('Type 3 to delete them: ')
    expect(stdout).toMatch(/\n3 deleted\.\n$/)
    expect(status).toBe(0)
    expect(await left()).toEqual([live.id])
  })

  it('deletes nothing for another number, without an answer, and where nobody can be asked', async () => {
    const { env, left } = await endedRuns()

    const wrong = await belay(['prune', '--older-than', '0s'], { env, typed: '4\n', columns: 80 })
    const none = await belay(['prune', '--older-than', '0s'], { env, typed: '', columns: 80 })
    const piped = await belay(['prune', '--older-than', '0s'], { env })
    const other = await belay(['prune', '--older-than', '0s', '--yes', '--expect', '2'], { env })

    expect(wrong.stderr).toMatch(/Nothing was done\.\n$/)
    expect(piped.stderr).toBe('Nobody can be asked here. --yes does it without asking.\n')
    expect(other.stderr).toBe('--expect is 2, but it would be 3. Nothing was done.\n')
    expect([wrong.status, none.status, piped.status, other.status]).toEqual([1, 1, 2, 1])
    expect(await left()).toHaveLength(4)
  })

  it('writes each run to the archive before it is deleted, after what the archive has', async () => {
    const { env, ids } = await endedRuns()
    const cwd = await folder()
    const argv = ['prune', '--older-than', '0s', '--archive', 'runs.ndjson', '--yes']

    const tagged = await belay([...argv, '--tag', 'tenant:7', '--json'], { env, cwd })
    const rest = await belay(argv, { env, cwd })

    expect(JSON.parse(tagged.stdout)).toMatchObject({ pruned: 1, more: false })
    expect(rest.stdout).toMatch(/\n2 deleted\. Copies are in runs\.ndjson\.\n$/)
    const lines = (await readFile(join(cwd, 'runs.ndjson'), 'utf8')).trimEnd().split('\n')
    const runs = lines.map((line) => JSON.parse(line))
    expect(runs.map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(runs[0]).toMatchObject({ id: ids[0], input: 'Zurich', status: 'completed', tags: ['tenant:7'] })
    expect((await stat(join(cwd, 'runs.ndjson'))).mode & 0o077).toBe(0)
  })

  it('deletes nothing if the archive cannot be written', async () => {
    const { env, left } = await endedRuns()
    const argv = ['prune', '--older-than', '0s', '--yes', '--archive', 'none/runs.ndjson']

    const { stderr, status } = await belay(argv, { env, cwd: await folder() })

    expect(stderr).toMatch(/^The archive cannot be written: ENOENT.* Nothing was deleted\.\n$/)
    expect(status).toBe(1)
    expect(await left()).toHaveLength(4)
  })

  it('says that no run is old enough, and needs an age', async () => {
    const { env } = await endedRuns()

    const young = await belay(['prune', '--older-than', '30d', '--yes'], { env })
    const none = await belay(['prune'], { env })
    const odd = await belay(['prune', '--older-than', 'long'], { env })

    expect([young.stdout, young.stderr, young.status]).toEqual(['', 'No run ended so long ago.\n', 0])
    expect(none.stderr).toBe('--older-than is missing.\n  belay prune --older-than 30d --dry-run\n')
    expect([none.status, odd.status]).toEqual([2, 2])
  })
})
