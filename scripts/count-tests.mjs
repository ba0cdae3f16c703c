import { readFileSync } from 'node:fs'
import { isMain } from './main-module.mjs'

/**
 * @typedef {object} Report vitest's JSON report, as far as it matters here
 * @property {boolean} success
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {{ status: string, assertionResults: { status: string }[] }[]} testResults one per file
 */

/**
 * One line for whoever reads only the end: `N passed, N failed`. A file that couldn't be loaded counts as one failed test, and so does an
 * error outside of every test: neither is in vitest's own numbers, and none must look like success.
 * @param {Report} report
 */
export function countTests({ success, numPassedTests, numFailedTests, testResults }) {
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((assertion) => assertion.status === 'failed'),
  ).length
  const failed = numFailedTests + brokenFiles
  return `${numPassedTests} passed, ${success ? failed : Math.max(failed, 1)} failed`
}

if (isMain(import.meta.url)) {
  const path = process.argv[2]
  if (path === undefined) throw new Error('Give the path of a report written by vitest --reporter=json.')
  console.log(countTests(JSON.parse(readFileSync(path, 'utf8'))))
}
