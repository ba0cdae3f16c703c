import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnvironment } from '../src/command.mjs'
import { installIn } from '../src/install.mjs'
import { packPackages, root } from '../src/pack.mjs'

const execute = promisify(execFile)

// Installing needs npm's registry or its cache.
describe.skipIf(process.env['BELAY_OFFLINE'] === '1')('belay init, from the packed packages', () => {
  let folder: string
  let project: string
  let server: PostgresServer | undefined
  let worker: ChildProcess | undefined

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-packed-init-'))
    project = join(folder, 'shop')
    await mkdir(project)
    await execute(process.execPath, [join(root, 'packages/cli/bundle/bin.js'), 'init', '--pglite'], {
      cwd: project,
      env: plainEnvironment(),
    })
    await installPacked()
  })
  afterAll(async () => {
    worker?.kill('SIGKILL')
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** What its manifest names, with the packed packages in place of those of Belay, which npm does not have yet. */
  async function installPacked() {
    const tarballs = new Map(
      (await packPackages(folder)).map(({ name, tarball }) => [name, `file:${tarball}`]),
    )
    const path = join(project, 'package.json')
    const manifest = JSON.parse(await readFile(path, 'utf8'))
    for (const group of ['dependencies', 'devDependencies']) {
      for (const name of Object.keys(manifest[group])) {
        if (name.startsWith('@belay/')) manifest[group][name] = tarballs.get(name)
      }
    }
    await writeFile(path, JSON.stringify(manifest))
    await installIn(project)
  }

  async function run(cwd: string, env: NodeJS.ProcessEnv, program: string, ...args: string[]) {
    const { stdout } = await execute(program, args, { cwd, env: { ...plainEnvironment(), ...env } })
    return stdout
  }
  const belay = () => join(project, 'node_modules/.bin/belay')

  it('a project on PGlite passes its test, ships, and undoes what fails', async () => {
    expect(await run(project, {}, 'npm', 'test')).toContain('2 passed')
    expect(await run(project, {}, 'npm', 'start')).toContain('rope shipped to Zurich')
    expect(await run(project, {}, 'npm', 'start', '--', 'nowhere')).toMatch(
      /refunded ch_1\nreleased rope-1\n/,
    )
    expect(await run(project, {}, belay(), 'list')).toMatch(/^compensated\t.*\ncompleted\t.*\n$/)
  })

  it('the packed command line makes a project on PostgreSQL that does the same in two processes', async () => {
    const began = performance.now()
    const cwd = join(folder, 'shop-2')
    await mkdir(cwd)
    await run(cwd, {}, belay(), 'init', '--postgres')
    await symlink(join(project, 'node_modules'), join(cwd, 'node_modules'), 'junction')
    server = await startPostgres({ inMemory: true })
    const env = { DATABASE_URL: server.url }
    expect(await run(cwd, env, belay(), 'migrate')).toContain('0000_tables')
    await run(cwd, env, join(project, 'node_modules/.bin/tsc'))
    let told = ''
    const startWorker = async () => {
      told = ''
      worker = spawn(process.execPath, ['dist/src/worker.js'], {
        cwd,
        env: { ...plainEnvironment(), ...env },
      })
      worker.stdout!.on('data', (text: Buffer) => {
        told += text
      })
      await expect.poll(() => told, { timeout: 20_000 }).toContain('The worker has started.')
    }
    await startWorker()

    expect(await run(cwd, env, 'npm', 'start')).toContain('rope shipped to Zurich')
    expect(await run(cwd, env, 'npm', 'start', '--', 'nowhere')).toContain('Undone: 2 of 2.')
    expect(told).toMatch(/refunded ch_1\nreleased rope-1\n/)
    expect(await run(cwd, env, belay(), 'doctor')).toContain('healthy')

    // kill -9, an order that nobody takes, why, and how it goes on.
    worker!.kill('SIGKILL')
    const order = run(cwd, env, 'npm', 'start')
    const open = async () =>
      JSON.parse(await run(cwd, env, belay(), 'list', '--status', 'running', '--json')).runs
    await expect.poll(open, { timeout: 20_000 }).toHaveLength(1)
    const [{ id }] = await open()
    const why = () => run(cwd, env, belay(), 'explain', id, '--all')
    await expect.poll(why, { timeout: 60_000, interval: 1_000 }).toMatch(/no worker is live|no live worker/i)
    await startWorker()
    expect(await order).toContain('rope shipped to Zurich')
    expect(await run(cwd, env, belay(), 'show', id)).toContain('completed')
    console.log(
      `From init to the order that a new worker finished: ${Math.round((performance.now() - began) / 1_000)} s, installing apart.`,
    )
  })
})
