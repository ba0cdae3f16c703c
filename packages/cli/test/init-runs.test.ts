import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startPostgres } from '@belay/postgres-server'
import { expect, it, onTestFinished } from 'vitest'
import { belay } from './setup/belay.ts'

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** What npm would install, from this repository: its packages must have been built. */
const INSTALLED = {
  '@belay/cli': 'packages/cli',
  '@belay/testing': 'packages/testing',
  '@belay/workflow': 'packages/workflow',
  '@belay/workflow-postgres': 'packages/workflow-postgres',
  '@electric-sql/pglite': 'packages/cli/node_modules/@electric-sql/pglite',
  '@types/node': 'node_modules/@types/node',
  typescript: 'node_modules/typescript',
  vitest: 'node_modules/vitest',
}

/** A new project with its packages, compiled. */
async function project(store: '--pglite' | '--postgres') {
  const cwd = await mkdtemp(join(tmpdir(), 'belay-init-runs-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  expect((await belay(['init', store, '--name', 'shop'], { cwd })).status).toBe(0)
  for (const [name, path] of Object.entries(INSTALLED)) {
    await mkdir(dirname(join(cwd, 'node_modules', name)), { recursive: true })
    await symlink(at(path), join(cwd, 'node_modules', name), 'junction')
  }
  const node = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { stdout } = await promisify(execFile)(process.execPath, [...args], {
      cwd,
      env: { ...plain(), ...env },
    })
    return stdout
  }
  await node(['node_modules/typescript/bin/tsc'])
  return { cwd, node }
}

/** Without what Vitest tells its own processes. */
function plain(): NodeJS.ProcessEnv {
  const { PATH, HOME, SystemRoot, TEMP } = process.env
  return { PATH, HOME, SystemRoot, TEMP, NO_COLOR: '1' }
}

it('a project on PGlite compiles, passes its test, runs, fails and is undone', async () => {
  const { cwd, node } = await project('--pglite')

  const tested = await node(['node_modules/vitest/vitest.mjs', 'run', '--dir', 'test'])
  const shipped = await node(['dist/src/main.js'])
  const failed = await node(['dist/src/main.js', 'nowhere'])

  expect(tested).toMatch(/Tests +2 passed/)
  expect(shipped).toMatch(
    /reserved rope\ncharged for rope-1 with key \S+\nrope shipped to Zurich\nnpx belay show \S+\n$/,
  )
  expect(failed).toMatch(/refunded ch_1\nreleased rope-1\n/)
  expect(failed).toContain('no courier goes there. Undone: 2 of 2.')
  const { stdout, stderr } = await belay(['list', '--json', '--fields', 'status,workflow'], { cwd })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout).runs).toEqual([
    { status: 'compensated', workflow: 'order' },
    { status: 'completed', workflow: 'order' },
  ])
})

it('a project on PostgreSQL compiles, passes its test, and has a worker that runs what others start', async () => {
  const { cwd, node } = await project('--postgres')
  const env = { DATABASE_URL: await server() }
  const [tested, migrated] = [
    await node(['node_modules/vitest/vitest.mjs', 'run', '--dir', 'test']),
    await belay(['migrate'], { cwd, env }),
  ]
  const worker = spawn(process.execPath, ['dist/src/worker.js'], { cwd, env: { ...plain(), ...env } })
  onTestFinished(() => void worker.kill('SIGKILL'))
  const told = saidBy(worker)
  await expect.poll(told).toContain('The worker has started.')

  const shipped = await node(['dist/src/start.js'], env)
  const failed = await node(['dist/src/start.js', 'nowhere'], env)

  expect([tested, migrated.status]).toEqual([expect.stringMatching(/Tests +2 passed/), 0])
  expect(shipped).toMatch(/^rope shipped to Zurich\nnpx belay show \S+\n$/)
  expect(failed).toContain('no courier goes there. Undone: 2 of 2.')
  expect(told()).toMatch(/refunded ch_1\nreleased rope-1\n/)
  const { stdout } = await belay(['workers', '--json', '--fields', 'name,status'], { cwd, env })
  expect(JSON.parse(stdout)).toEqual({ workers: [{ name: 'shop', status: 'live' }] })
})

function saidBy(child: ChildProcess): () => string {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (said += text))
  return () => said
}

/** The programs keep to the schema `belay`: on a server of their own, so that no other test and nobody's database is touched. */
async function server(): Promise<string> {
  const { url, stop } = await startPostgres({ major: 18, inMemory: true })
  onTestFinished(stop)
  return url
}
