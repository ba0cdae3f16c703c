import './require-node.mjs'
import { PROOFS } from './read-proofs.mjs'
import { runTests } from './run-tests.mjs'

const USAGE = `Runs the tests that prove by quantity, which \`npm test\` leaves out.

  npm run proofs                    all of them
  npm run proofs -- worlds hostile  some of them

${Object.entries(PROOFS)
  .map(([name, { proves }]) => `  ${name.padEnd(12)} ${proves}`)
  .join('\n')}

Options, such as -t or --reporter, go on to vitest.`

const args = process.argv.slice(2)
const names = args.filter((argument) => argument in PROOFS)
const unknown = args.find((argument, index) => isName(argument, args[index - 1]) && !(argument in PROOFS))

if (args.includes('--help')) console.log(USAGE)
else if (unknown !== undefined) {
  console.error(`There is no proof "${unknown}". These are: ${Object.keys(PROOFS).join(', ')}.`)
  process.exitCode = 2
} else {
  const asked = names.length === 0 ? Object.keys(PROOFS) : names
  const files = asked.flatMap((name) => PROOFS[name]?.files ?? [])
  await runTests([...files, ...args.filter((argument) => !(argument in PROOFS))])
}

/**
 * @param {string} argument
 * @param {string | undefined} before
 */
function isName(argument, before) {
  return !argument.startsWith('-') && before !== '-t'
}
