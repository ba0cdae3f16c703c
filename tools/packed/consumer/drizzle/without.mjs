// Run before drizzle-orm is installed: what a handler gets that uses tx.drizzle.
import { createEngine, define } from '@belay/workflow'
import { pglite, pgliteTransaction } from '@belay/workflow-postgres/pglite'

const look = define('look', { version: 1 })
  .step('client', {
    transaction: pgliteTransaction(),
    run: async ({ tx }) => (await tx.client.query('select 1 as one')).rows[0].one,
  })
  .step('drizzle', {
    transaction: pgliteTransaction(),
    retry: false,
    run: ({ tx }) => tx.drizzle.execute('select 1'),
  })

const engine = createEngine({ adapter: pglite(), workflows: [look] })
await engine.start()
const run = await engine.run(look)
const error = await run.result().catch((reason) => reason)
const client = await run.step('client')
console.log(JSON.stringify({ client, message: error.message }))
await engine.close()
