import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { differences } from '../src/sizes/differences.mjs'
import { longFunctions } from '../src/sizes/long-functions.mjs'
import { type Config, faultsOf, type Override, readConfig, root } from './lint-tree.ts'

const SIZE = 'noExcessiveLinesPerFile'

it.each([
  ['a source', 'packages/some/src/long.ts', 300],
  ['a source of a tool', 'tools/some/src/long.mjs', 300],
  ['a test', 'packages/some/test/long.test.ts', 400],
])('%s may be as long as CONTRIBUTING.md says, and no longer', (_, path, linesMax) => {
  expect(tooLong({ [path]: lines(linesMax) })).toEqual([])

  expect(tooLong({ [path]: lines(linesMax + 1) })).toEqual([[path, SIZE]])
})

it.each([
  ['code', '  work()'],
  ['markup', '  <b>text</b>'],
  ['SQL', '  select 1,'],
])('a function may have 40 lines of %s, and no more', (what, line) => {
  const text = (count: number) => functionOf(what, `${line}\n`.repeat(count))

  expect(longFunctions('long.tsx', text(38))).toEqual([])

  expect(longFunctions('long.tsx', text(41))).toHaveLength(1)
})

it('a text of SQL outside of functions counts as a function', () => {
  expect(longFunctions('sql.ts', `const text = \`${'\nselect 1,'.repeat(41)}\n\``)).toHaveLength(1)
})

it('a comment counts as one line and a blank line as none, so nobody saves on them', () => {
  const said = `/* why\n${'that is so\n'.repeat(30)}*/\n\n\n`

  expect(longFunctions('said.ts', functionOf('code', `${said}${'work()\n'.repeat(39)}`))).toEqual([])
})

it.each([
  ['a new one', { 'a.ts': [41] }, {}, 'split'],
  ['a longer one', { 'a.ts': [52] }, { 'a.ts': [50] }, 'split'],
  ['a second one', { 'a.ts': [50, 41] }, { 'a.ts': [50] }, 'split'],
  ['a shorter one', { 'a.ts': [49] }, { 'a.ts': [50] }, 'lower the list'],
  ['one that is gone', {}, { 'a.ts': [50] }, 'lower the list'],
])('the list of longer functions may only shrink: %s', (_, found, listed, remedy) => {
  expect(differences(found, listed)).toEqual([expect.stringContaining(remedy)])
})

it('the functions of this repository are no longer than the list says', () => {
  const said = execFileSync(process.execPath, [join(root, 'tools/checks/src/check-sizes.mjs')], {
    encoding: 'utf8',
  })

  expect(said).toContain('files have no function of more than 40 lines but')
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
  return overrides.filter(
    ({ linter }) => linter !== undefined && linter.rules.style.noRestrictedGlobals === undefined,
  )
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
  return faultsOf(files, config).filter(([, rule]) => rule === SIZE)
}

function lines(count: number): string {
  return 'export {}\n'.repeat(count)
}

/** A function with these lines of code, markup or SQL in its body. */
function functionOf(what: string, text: string): string {
  if (what === 'markup') return `const Long = () => (\n<p>\n${text}</p>\n)\n`
  const body = what === 'SQL' ? `return \`\n${text}\`\n` : text
  return `export function long() {\n${body}}\n`
}
