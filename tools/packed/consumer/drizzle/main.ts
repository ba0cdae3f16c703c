// A user who has drizzle-orm: Belay uses that version, for tx.drizzle and for its tables.
import assert from 'node:assert/strict'
import { createEngine, define } from '@belay/workflow'
import { pglite, pgliteTransaction } from '@belay/workflow-postgres/pglite'
import { workflowRuns } from '@belay/workflow-postgres/schema'
import { eq } from 'drizzle-orm'

const look = define('look', { version: 1 }).step('find', {
  transaction: pgliteTransaction(),
  run: async ({ tx, runId }) => {
    const rows = await tx.drizzle
      .select({ workflow: workflowRuns.workflow })
      .from(workflowRuns)
      .where(eq(workflowRuns.id, runId))
    // @ts-expect-error a column that was not selected
    assert.equal(rows[0]?.version, undefined)
    return rows[0]?.workflow ?? null
  },
})

await using engine = createEngine({ adapter: pglite(), workflows: [look] })
await engine.start()
const run = await engine.run(look)
const { find }: { find: string | null } = await run.result()
console.log(`tx.drizzle found the run of ${find}.`)
