import './require-node.mjs'
import { pathToFileURL } from 'node:url'
import { endWithLauncher, hearSignalsOnce } from './launcher.mjs'
import { at } from './root.mjs'
import { setUp } from './setup.mjs'

hearSignalsOnce()
endWithLauncher()
await setUp()

// In this very process: signals, exit code and a kill -9 then need nobody to pass them on.
const program = at('examples/dist/start.js')
process.argv.splice(1, 1, program)
await import(pathToFileURL(program).href)
