import './require-node.mjs'
import { at } from './root.mjs'
import { runProgram } from './run-program.mjs'

await runProgram(at('packages/testing/dist/simulation/cli.js'))
