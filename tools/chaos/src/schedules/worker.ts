import { createEngine, define } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'

/** A worker that the soak kills. Its lease is short, so that the steps it held go on soon. */
const ticked = define('ticked', { version: 1 }).step('note', { run: () => null })

const url = process.env['DATABASE_URL']
if (url === undefined) throw new Error('DATABASE_URL must name the database of the soak.')
const engine = createEngine({ adapter: postgres(url), workflows: [ticked], lease: '2s' })
await engine.start()
process.send?.('started')
