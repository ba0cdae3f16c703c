import './require-node.mjs'
import { runTests } from './run-tests.mjs'

// Arguments go on to vitest: `npm test -- saga`. Asked for a file or a name, it looks for it among the proofs too.
const args = process.argv.slice(2)
const asks = args.some((argument) => !argument.startsWith('-') || argument === '-t')
if (!asks) process.env['WITHOUT_PROOFS'] = '1'
await runTests(args)
