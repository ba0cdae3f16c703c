import { startPostgres } from '@belay/postgres-server'
import { output } from './command.mjs'
import { makeConsumer } from './consumer.mjs'
import { installRuntimes } from './runtimes.mjs'

const STORES = ['pglite', 'postgres']
const PGLITE = '@electric-sql/pglite@0.5.16'

/** Runs one small program on the packed packages, under every runtime and on each store, and prints a table. */
async function main() {
  const quick = process.argv.includes('--quick')
  const runtimes = await installRuntimes({ quick })
  const consumer = await makeConsumer()
  const server = await startPostgres()
  try {
    await consumer.add(PGLITE)
    const rows = []
    for (const [index, runtime] of runtimes.entries()) {
      for (const store of STORES) {
        const args = ['runtimes/main.mjs', store, `runtime_${index}`]
        rows.push({
          runtime: runtime.name,
          store,
          ...(await tried(runtime, args, consumer.folder, server.url)),
        })
      }
    }
    report(rows)
  } finally {
    await server.stop()
    await consumer.remove()
  }
}

/** @typedef {{ name: string, ms?: number, error?: string }} Check */

/**
 * @param {import('./runtimes.mjs').Runtime} runtime
 * @param {readonly string[]} args
 * @param {string} folder
 * @param {string} url
 * @returns {Promise<{ checks: readonly Check[], problem?: string }>}
 */
async function tried({ program, args: own }, args, folder, url) {
  try {
    const printed = await output(program, [...own, ...args], folder, { DATABASE_URL: url })
    return {
      checks: printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    }
  } catch (error) {
    return { checks: [], problem: String(error) }
  }
}

const CHECKS = ['start', 'step', 'transaction', 'undo', 'require', 'close']

/** @param {readonly { runtime: string, store: string, checks: readonly Check[], problem?: string }[]} rows */
function report(rows) {
  console.log(line(['runtime', 'store', ...CHECKS]))
  const problems = rows.flatMap(({ runtime, store, checks, problem }) => {
    const found = CHECKS.map((name) => checks.find((check) => check.name === name))
    console.log(
      line([runtime, store, ...found.map((check) => (check?.ms === undefined ? 'BAD' : `${check.ms} ms`))]),
    )
    const errors = found.flatMap((check) => check?.error ?? [])
    return [problem, ...errors]
      .filter((text) => text !== undefined)
      .map((text) => `\n${runtime} on ${store}: ${text}`)
  })
  for (const problem of problems) console.error(problem)
  const isComplete = rows.every(
    ({ checks }) => checks.filter(({ ms }) => ms !== undefined).length === CHECKS.length,
  )
  if (!isComplete) process.exitCode = 1
}

/** @param {readonly string[]} cells */
function line(cells) {
  return cells
    .map((cell, index) => cell.padEnd(index === 0 ? 14 : 12))
    .join('')
    .trimEnd()
}

await main()
