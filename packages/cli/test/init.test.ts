import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../src/store/config.ts'
import { belay } from './setup/belay.ts'

async function folder(name = 'Shop 2') {
  const above = await mkdtemp(join(tmpdir(), 'belay-init-'))
  onTestFinished(() => rm(above, { recursive: true, force: true }))
  const path = join(above, name)
  await mkdir(path)
  return path
}

const manifest = async (cwd: string) => JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'))

describe('belay init in an empty folder', () => {
  it('makes a project on PostgreSQL, and says what to do next', async () => {
    const cwd = await folder()

    const { stdout, stderr, status } = await belay(['init'], { cwd, columns: 80 })

    expect(stdout).toBe(
      [
        '+ package.json',
        '+ tsconfig.json',
        '+ .gitignore',
        '+ README.md',
        '+ compose.yaml',
        '+ belay.config.ts',
        '+ src/order.ts',
        '+ src/store.ts',
        '+ src/worker.ts',
        '+ src/start.ts',
        '+ test/order.test.ts',
        '',
      ].join('\n'),
    )
    expect(stderr).toMatch(/^Next:\n {2}npm install\n {2}npm test\n {2}docker compose up/)
    expect(status).toBe(0)
    expect(await manifest(cwd)).toMatchObject({ name: 'shop-2', type: 'module' })
  })

  it('makes one on PGlite, whose worker and starter are one program', async () => {
    const cwd = await folder()

    const { stdout } = await belay(['init', '--pglite', '--name', 'orders', '--json'], { cwd })

    const { created, next } = JSON.parse(stdout)
    expect(created).toContain('src/main.ts')
    expect(created).not.toContain('compose.yaml')
    expect(next).toEqual(['npm install', 'npm test', 'npm start'])
    expect(await manifest(cwd)).toMatchObject({
      name: 'orders',
      dependencies: { '@electric-sql/pglite': expect.anything() },
    })
  })

  it('asks at a terminal for the name and the store', async () => {
    const cwd = await folder()

    const { stderr } = await belay(['init'], { cwd, typed: 'orders\n2\n', columns: 80 })

    expect(stderr).toContain('Name of the project (shop-2): ')
    expect(stderr).toContain('Store: 1 PostgreSQL, 2 PGlite in a directory, without a server (1): ')
    expect((await manifest(cwd)).name).toBe('orders')
    expect(existsSync(join(cwd, 'src/main.ts'))).toBe(true)
  })

  it('writes nothing for a name that npm refuses, both stores, or an answer that is none', async () => {
    const cwd = await folder()

    const name = await belay(['init', '--name', 'My Shop'], { cwd })
    const both = await belay(['init', '--pglite', '--postgres'], { cwd })
    const answer = await belay(['init', '--name', 'shop'], { cwd, typed: '3\n', columns: 80 })

    expect(name.stderr).toContain('got "My Shop"')
    expect([name.status, both.status, answer.status]).toEqual([2, 2, 2])
    expect(await readdir(cwd)).toEqual([])
  })

  it('overwrites nothing, and writes nothing beside what is there', async () => {
    const cwd = await folder()
    await mkdir(join(cwd, 'src'))
    await writeFile(join(cwd, 'src/order.ts'), 'mine')
    await writeFile(join(cwd, 'README.md'), 'mine')

    const { stdout, stderr, status } = await belay(['init'], { cwd })

    expect([stdout, stderr]).toEqual([
      '',
      'These files exist: README.md, src/order.ts. Nothing was written.\n',
    ])
    expect(status).toBe(1)
    expect((await readdir(cwd)).sort()).toEqual(['README.md', 'src'])
  })

  it('writes nothing where `src` is a file, or a link leads nowhere', async () => {
    const [file, link] = [await folder(), await folder()]
    await writeFile(join(file, 'src'), 'mine')
    await symlink(join(link, 'nowhere'), join(link, 'README.md'))

    const inFile = await belay(['init'], { cwd: file })
    const inLink = await belay(['init'], { cwd: link })

    expect(inFile.stderr).toBe('src is no folder, and files belong into it. Nothing was written.\n')
    expect(inLink.stderr).toBe('This file exists: README.md. Nothing was written.\n')
    expect([inFile.status, inLink.status]).toEqual([1, 1])
    expect([await readdir(file), await readdir(link)]).toEqual([['src'], ['README.md']])
  })

  it.each([
    ['dependencies', 'file:belay-cli.tgz'],
    ['devDependencies', '^0.1.0'],
  ])(
    'makes the project where an install of the command line has left only its %s',
    async (field, version) => {
      const cwd = await folder()
      await writeFile(join(cwd, 'package.json'), JSON.stringify({ [field]: { '@belay/cli': version } }))
      await writeFile(join(cwd, 'package-lock.json'), '{}')
      await mkdir(join(cwd, 'node_modules'))

      const { stdout, status } = await belay(['init', '--pglite', '--name', 'orders'], { cwd })

      expect([status, stdout.split('\n').slice(0, 2)]).toEqual([0, ['~ package.json', '+ tsconfig.json']])
      expect(existsSync(join(cwd, 'src/main.ts'))).toBe(true)
      const { dependencies, devDependencies, ...made } = await manifest(cwd)
      expect(made).toMatchObject({ name: 'orders', type: 'module', scripts: { start: expect.anything() } })
      expect(dependencies).toHaveProperty('@belay/workflow')
      expect({ ...devDependencies, ...dependencies }['@belay/cli']).toBe(version)
      expect('@belay/cli' in dependencies && '@belay/cli' in devDependencies).toBe(false)
    },
  )
})

describe('belay init in a project', () => {
  it('adds only a config, which loads', async () => {
    const cwd = await folder()
    await writeFile(join(cwd, 'package.json'), '{}')

    const { stdout, stderr } = await belay(['init'], { cwd, columns: 80 })

    expect(stdout).toBe(
      '+ belay.config.ts\n    export default { url: process.env.DATABASE_URL, workflows: [] }\n',
    )
    expect(stderr).toBe('Next: belay migrate --dry-run\n')
    expect((await readdir(cwd)).sort()).toEqual(['belay.config.ts', 'package.json'])
    expect(await loadConfig(join(cwd, 'belay.config.ts'))).toMatchObject({ workflows: [] })
  })

  it('leaves a config of any kind alone', async () => {
    const cwd = await folder()
    await writeFile(join(cwd, 'package.json'), '{}')
    await writeFile(join(cwd, 'belay.config.js'), 'export default {}')

    const { stderr, status } = await belay(['init'], { cwd })

    expect(stderr).toBe('This file exists: belay.config.js. Nothing was written.\n')
    expect(status).toBe(1)
    expect((await readdir(cwd)).sort()).toEqual(['belay.config.js', 'package.json'])
  })
})
