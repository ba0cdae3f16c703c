import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { differences } from './sizes/differences.mjs'
import { LINES_MAX, longFunctions } from './sizes/long-functions.mjs'
import { LONGER } from './sizes/longer.mjs'

const root = process.argv[2] ?? fileURLToPath(new URL('../../..', import.meta.url))

/** Sources: a suite of tests is one function, and what tools write is nobody's to split. */
const SOURCES = ['*.ts', '*.tsx', '*.mjs', ':!**/test/**', ':!**/*.generated.ts', ':!**/*.d.mts']
const list = ['ls-files', '--cached', '--others', '--exclude-standard', ...SOURCES]
const paths = execFileSync('git', list, { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(root, path)))

/** @type {Record<string, readonly number[]>} */
const found = {}
for (const path of paths) {
  const long = longFunctions(path, readFileSync(join(root, path), 'utf8'))
  if (long.length > 0) found[path] = long
}
const problems = differences(found, LONGER)
for (const problem of problems) console.error(problem)
if (problems.length > 0) {
  console.error(
    `\nA function has at most ${LINES_MAX} lines, of markup and SQL too. The list of longer ones, tools/checks/src/sizes/longer.mjs, may only shrink.`,
  )
  process.exitCode = 1
} else {
  console.log(
    `${paths.length} files have no function of more than ${LINES_MAX} lines but the ${Object.values(LONGER).flat().length} that are listed.`,
  )
}
