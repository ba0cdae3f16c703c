import './require-node.mjs'
import { at } from './root.mjs'
import { runProgram } from './run-program.mjs'

await runProgram(at('tools/chaos/dist/failover/main.js'))
