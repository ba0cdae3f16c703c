import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Config, faultsOf, type Override, readConfig, root } from './lint-tree.ts'

const SIZES = ['noExcessiveLinesPerFile', 'noExcessiveLinesPerFunction']

it.each([
  ['a source', 'packages/some/src/long.ts', lines, 300, 'noExcessiveLinesPerFile'],
  ['a source of a tool', 'tools/some/src/long.mjs', lines, 300, 'noExcessiveLinesPerFile'],
  ['a test', 'packages/some/test/long.test.ts', lines, 400, 'noExcessiveLinesPerFile'],
  ['a function', 'packages/some/src/long.ts', functionOf, 40, 'noExcessiveLinesPerFunction'],
])('%s may be as long as CONTRIBUTING.md says, and no longer', (_, path, ofLength, linesMax, rule) => {
  expect(tooLong({ [path]: ofLength(linesMax) })).toEqual([])

  expect(tooLong({ [path]: ofLength(linesMax + 1) })).toEqual([[path, rule]])
})

it('a function in a test may be longer, because a suite is one function', () => {
  expect(tooLong({ 'packages/some/test/suite.test.ts': functionOf(200) })).toEqual([])
})

it('each exception allows exactly the length of its file, so the file may only shrink', () => {
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

/** The overrides that set a length for single files. */
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

/** The files among these that are too long, or have functions that are, and the rule that says so. */
function tooLong(files: Readonly<Record<string, string>>, config = readConfig()) {
  return faultsOf(files, config).filter(([, rule]) => SIZES.includes(rule))
}

function lines(count: number): string {
  return 'export {}\n'.repeat(count)
}

/** A function whose body has this many lines. */
function functionOf(count: number): string {
  return `export function long() {\n${'  work()\n'.repeat(count)}}\n`
}
