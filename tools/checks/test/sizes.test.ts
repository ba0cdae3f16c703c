import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const BIOME = join(root, 'node_modules/@biomejs/biome/bin/biome')
const SIZES = ['noExcessiveLinesPerFile', 'noExcessiveLinesPerFunction']

interface FileLength {
  readonly options: { maxLines: number }
}

interface Override {
  readonly includes: readonly string[]
  readonly linter?: {
    readonly rules: {
      readonly style: { readonly noExcessiveLinesPerFile: FileLength }
      readonly complexity?: object
    }
  }
}

type Config = Readonly<Record<string, unknown>> & { readonly overrides: readonly Override[] }

const trees: string[] = []
afterEach(() => {
  for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true })
})

it.each([
  ['a source', 'packages/some/src/long.ts', lines, 300, 'noExcessiveLinesPerFile'],
  ['a source of a tool', 'tools/some/src/long.mjs', lines, 300, 'noExcessiveLinesPerFile'],
  ['a test', 'packages/some/test/long.test.ts', lines, 400, 'noExcessiveLinesPerFile'],
  ['a function', 'packages/some/src/long.ts', functionOf, 40, 'noExcessiveLinesPerFunction'],
])(
  '%s may be as long as CONTRIBUTING.md says, and not one line longer',
  (_, path, ofLength, linesMax, rule) => {
    expect(tooLong({ [path]: ofLength(linesMax) })).toEqual([])

    expect(tooLong({ [path]: ofLength(linesMax + 1) })).toEqual([[path, rule]])
  },
)

it('a function in a test may be longer: a suite is one', () => {
  expect(tooLong({ 'packages/some/test/suite.test.ts': functionOf(200) })).toEqual([])
})

it('each file that may be longer has just the length that its exception allows: it may only shrink', () => {
  const config = readConfig()
  const files: Record<string, string> = {}
  for (const { includes } of exceptionsOf(config)) {
    for (const path of matching(includes)) files[path] = readFileSync(join(root, path), 'utf8')
  }
  for (const exception of exceptionsOf(config)) {
    exception.linter!.rules.style.noExcessiveLinesPerFile.options.maxLines -= 1
  }

  const found = new Set(tooLong(files, config).map(([path]) => path))

  const loose = exceptionsOf(config).filter(
    ({ includes }) => !matching(includes).some((path) => found.has(path)),
  )
  const remedy =
    'Lower the maxLines of these in biome.json to the length of their file, or remove them if that is 300 or less.'
  expect(
    loose.map(({ includes }) => includes),
    remedy,
  ).toEqual([])
})

function readConfig(): Config {
  return JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Config
}

/** The overrides that give single files a length of their own. */
function exceptionsOf({ overrides }: Config): readonly Override[] {
  return overrides.filter(({ linter }) => linter !== undefined && linter.rules.complexity === undefined)
}

function matching(globs: readonly string[]): readonly string[] {
  const list = [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    ...globs.map((glob) => `:(glob)${glob}`),
  ]
  return execFileSync('git', list, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
}

/** Lints a tree of these files alone, and returns what is too long in it, with the rule that says so. */
function tooLong(
  files: Readonly<Record<string, string>>,
  config = readConfig(),
): readonly (readonly [path: string, rule: string])[] {
  const tree = realpathSync(mkdtempSync(join(tmpdir(), 'belay-sizes-')))
  trees.push(tree)
  const ofTree = { ...config, vcs: { enabled: false } }
  for (const [path, text] of Object.entries({ ...files, 'biome.json': JSON.stringify(ofTree) })) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), text)
  }
  const report = lint(tree, ['--reporter=github', '--max-diagnostics=none', '.'])
  const found = [...report.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+),/g)]
  return found
    .filter(([, rule]) => SIZES.includes(rule!))
    .map(([, rule, path]) => [relative(tree, path!), rule!] as const)
}

/** What Biome reports, also when it finds fault. */
function lint(cwd: string, options: readonly string[]): string {
  try {
    return execFileSync(process.execPath, [BIOME, 'lint', ...options], {
      cwd,
      encoding: 'utf8',
      stdio: 'pipe',
    })
  } catch (error) {
    const { stdout } = error as { readonly stdout?: string }
    if (stdout?.includes('::error') !== true) throw error
    return stdout
  }
}

function lines(count: number): string {
  return 'export {}\n'.repeat(count)
}

/** A function whose body has this many lines. */
function functionOf(count: number): string {
  return `export function long() {\n${'  work()\n'.repeat(count)}}\n`
}
