import './require-node.mjs'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { at, root } from './root.mjs'

// How much of what speaks the public API passes on the new engine: test files, by room. `--listed` plays only those that passed before, and fails if one
// does not any more; `--list` makes the list anew.

const ROOMS = ['packages/testing/test/engine']
const LISTED = 'scripts/parity.json'
const REPORT = '.belay/parity.json'

const args = process.argv.slice(2)
const isListed = args.includes('--listed')
/** @type {readonly string[]} */
const listed = JSON.parse(readFileSync(at(LISTED), 'utf8'))

mkdirSync(at(dirname(REPORT)), { recursive: true })
const { status } = spawnSync(
  process.execPath,
  [
    at('node_modules/vitest/vitest.mjs'),
    ...['run', ...(isListed ? listed : ROOMS)],
    // What hangs on the new engine is not waited for.
    ...(isListed ? [] : ['--testTimeout=10000']),
    ...['--reporter=json', `--outputFile=${at(REPORT)}`],
  ],
  { cwd: root, env: { ...process.env, BELAY_ENGINE: 'owner' }, stdio: ['ignore', 'ignore', 'inherit'] },
)

/** @type {readonly { readonly name: string, readonly status: string, readonly assertionResults: readonly Case[] }[]} */
const files = JSON.parse(readFileSync(at(REPORT), 'utf8')).testResults
/** @typedef {{ readonly title: string, readonly status: string, readonly failureMessages: readonly string[] }} Case */

const nameOf = (/** @type {{ readonly name: string }} */ { name }) => relative(root, name)
const failed = files.filter((file) => file.status !== 'passed')
for (const room of ROOMS) {
  const own = files.filter((file) => nameOf(file).startsWith(room))
  const cases = own.flatMap(({ assertionResults }) => assertionResults).filter(isPlayed)
  const passed = cases.filter((each) => each.status === 'passed').length
  const whole = own.filter((file) => file.status === 'passed').length
  console.log(`${room}: ${whole} of ${own.length} files, ${passed} of ${cases.length} cases`)
}
if (isListed) {
  for (const file of failed) console.error(`${nameOf(file)} does not pass on the new engine any more.`)
  process.exitCode = status === 0 ? 0 : 1
} else {
  for (const file of failed) {
    const cases = file.assertionResults.filter(isPlayed)
    const first = cases.find((each) => each.status === 'failed')
    const count = cases.filter((each) => each.status === 'passed').length
    const why = (first?.failureMessages[0] ?? 'it does not load').split('\n')[0]
    console.log(`  ${count}/${cases.length} ${nameOf(file)}: ${first?.title ?? ''}: ${why?.slice(0, 160)}`)
  }
  const missing = listed.filter((name) => failed.some((file) => nameOf(file) === name))
  for (const name of missing) console.error(`${name} passed before.`)
  if (args.includes('--list')) {
    const passing = files.filter((file) => file.status === 'passed').map(nameOf)
    writeFileSync(at(LISTED), `${JSON.stringify(passing.sort(), null, 2)}\n`)
  } else process.exitCode = missing.length === 0 ? 0 : 1
}

function isPlayed(/** @type {Case} */ { status: played }) {
  return played === 'passed' || played === 'failed'
}
