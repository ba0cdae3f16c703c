import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnvironment } from '../src/command.mjs'
import { installIn } from '../src/install.mjs'
import { packPackages, root } from '../src/pack.mjs'

const execute = promisify(execFile)

/** What the page installs besides Belay. The page names no versions; a test needs some that stay. */
const OTHERS = { '@types/node': '20.19.37', tsx: '4.23.15', typescript: '7.0.2', zod: '4.6.7' }

/** The files of the page, by the path in their fence, the lines of its shell blocks, and its queries. */
function readQuickStart(markdown: string) {
  const blocks = (fence: string) =>
    [...markdown.matchAll(new RegExp(`^\`\`\`${fence}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((match) =>
      match.slice(1),
    )
  return {
    files: blocks('\\w+ file: (\\S+)').map(([path, text]) => ({ path: path!, text: text! })),
    commands: blocks('sh').flatMap(([text]) => text!.trim().split('\n')),
    query: blocks('sql')[0]![0]!,
  }
}

// Installing needs npm's registry or its cache.
describe.skipIf(process.env['BELAY_OFFLINE'] === '1')('the quick start, in an empty folder', () => {
  let page: ReturnType<typeof readQuickStart>
  let folder: string
  let server: PostgresServer
  let env: NodeJS.ProcessEnv
  let worker: ChildProcess | undefined
  let told = ''

  beforeAll(async () => {
    page = readQuickStart(await readFile(join(root, 'docs/quick-start.md'), 'utf8'))
    folder = await mkdtemp(join(tmpdir(), 'belay-quick-start-'))
    for (const { path, text } of page.files) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const packed = await packPackages(folder)
    const tarballs = Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`]))
    const manifest = { private: true, type: 'module', dependencies: { ...tarballs, ...OTHERS } }
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await installIn(folder)
    server = await startPostgres({ inMemory: true })
    env = { ...plainEnvironment(), DATABASE_URL: await server.createDatabase() }
  })
  afterAll(async () => {
    worker?.kill('SIGKILL')
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Runs a command of the page, without npx, which would ask the registry. */
  async function run(command: string): Promise<string> {
    const { stdout } = await execute(...programOf(command), { cwd: folder, env })
    return stdout
  }

  function programOf(command: string): [string, string[]] {
    expect(page.commands).toContain(command)
    const [, program, ...args] = command.split(' ')
    return [join(folder, 'node_modules/.bin', program!), args]
  }

  it('installs the packages that its files import', () => {
    const names = page.commands
      .filter((command) => command.startsWith('npm install '))
      .flatMap((command) => command.split(' ').slice(2))

    expect(names.filter((name) => name !== '-D').sort()).toEqual(
      ['@belay/testing', '@belay/workflow', '@belay/workflow-postgres', ...Object.keys(OTHERS)].sort(),
    )
  })

  it('compiles, and passes its own test', async () => {
    expect(await run('npx tsc')).toBe('')
    expect(await run('npx tsx --test src/order.test.ts')).toMatch(/pass 2\n[\s\S]*fail 0\n/)
  })

  it('runs an order once, undoes a failed one, and leaves on SIGTERM', async () => {
    expect(await run('npx tsx src/migrate.ts')).toBe('migrated\n')
    worker = spawn(...programOf('npx tsx src/worker.ts'), { cwd: folder, env })
    const left = new Promise<number | null>((resolve) => worker?.once('exit', resolve))
    worker.stdout!.on('data', (text: Buffer) => {
      told += text
    })
    await expect.poll(() => told, { timeout: 20_000 }).toContain('the worker has started')

    const first = await run('npx tsx src/place-order.ts 1')
    const again = await run('npx tsx src/place-order.ts 1')
    const failed = await run('npx tsx src/place-order.ts 2 250000')

    expect(first).toBe('rope shipped, paid by ch_1\n')
    expect(again).toBe(first)
    expect(failed).toContain('the card was declined')
    expect(told.match(/charged 4200 with key \S+/g)).toHaveLength(1)
    expect(told.match(/released rope-1/g)).toHaveLength(1)
    expect(await steps()).toEqual([
      'order:1 reserve completed',
      'order:1 charge completed',
      'order:1 ship completed',
      'order:2 reserve compensated',
      'order:2 charge failed',
      'order:2 ship cancelled',
    ])
    worker.kill('SIGTERM')
    expect(await left).toBe(0)
  })

  /** What the query of the page shows. */
  async function steps() {
    const client = new pg.Client({ connectionString: env['DATABASE_URL']! })
    await client.connect()
    try {
      const { rows } = await client.query<{ key: string; name: string; status: string }>(page.query)
      return rows.map(({ key, name, status }) => `${key} ${name} ${status}`)
    } finally {
      await client.end()
    }
  }
})
