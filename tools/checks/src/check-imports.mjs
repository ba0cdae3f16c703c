import { fileURLToPath } from 'node:url'
import { findViolations } from './imports/find-violations.mjs'
import { RULES } from './imports/import-rules.mjs'

const root = process.argv[2] ?? fileURLToPath(new URL('../../..', import.meta.url))
const { violations, checkedImports } = findViolations(root, RULES)

for (const violation of violations) console.error(violation)
if (violations.length > 0) {
  console.error(
    `\n${violations.length} wrong imports. The rules are in tools/checks/src/imports/import-rules.mjs.`,
  )
  process.exitCode = 1
} else {
  console.log(`${checkedImports} imports go the right way.`)
}
