import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The second column of the tables: a title in backticks. */
function namedTests(): readonly string[] {
  const page = readFileSync(join(root, 'docs/failure-modes.md'), 'utf8')
  return [...page.matchAll(/^\|[^|]+\| `(.+)` \|$/gm)].map((row) => row[1]!)
}

function testSources(): string {
  const list = ['ls-files', 'packages/*.test.ts', 'packages/testing/src/conformance/cases']
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8' }).trim().split('\n')
  return files.map((file) => readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'")).join('\n')
}

it('every test that the page on failure modes names exists', () => {
  const sources = testSources()

  const named = namedTests()

  expect(named.length).toBeGreaterThan(25)
  expect(named.filter((title) => !sources.includes(title))).toEqual([])
})
