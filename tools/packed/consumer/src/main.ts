// A user's program, compiled and run against the packed packages: what fails here would fail for users.
import assert from 'node:assert/strict'
import { memory } from '@belay/testing'
import { BelayError, createEngine, define, PermanentError, RunFailedError, unchecked } from '@belay/workflow'
import { BelayError as PortError } from '@belay/workflow/adapter'
import { postgres, postgresTransaction } from '@belay/workflow-postgres'

const undone: string[] = []

const shipOrder = define('ship-order', {
  version: 1,
  input: unchecked<{ items: number; inStock: boolean }>(),
})
  .step('reserve', {
    run: ({ input }) => ({ reservation: `r-${input.items}` }),
    compensate: ({ output }) => {
      undone.push(output.reservation)
    },
  })
  .step('ship', {
    dependsOn: ['reserve'],
    run: ({ input, deps }) => {
      if (!input.inStock) throw new PermanentError('nothing on the shelf')
      return deps.reserve.reservation.length
    },
  })

// Typed without drizzle-orm, too: its types are unknown to the compiler here, and must not become any.
export const pay = define('pay', { version: 1 }).step('charge', {
  transaction: postgresTransaction(),
  run: async ({ tx }) => {
    const { rowCount } = await tx.client.query('select 1')
    // @ts-expect-error drizzle-orm is not installed
    await tx.drizzle.execute('select 1')
    return rowCount
  },
})

const engine = createEngine({ adapter: memory({ clock: 'real' }), workflows: [shipOrder] })
await engine.start()

const shipped = await engine.run(shipOrder, { items: 2, inStock: true })
const outputs = await shipped.result()
const length: number = outputs.ship
assert.equal(length, 3)
assert.deepEqual(undone, [])

const failed = await engine.run(shipOrder, { items: 3, inStock: false })
await assert.rejects(failed.result(), (error) => error instanceof RunFailedError && BelayError.is(error))
assert.deepEqual(undone, ['r-3'])

// Stored stacks end at the user's handler, in the bundle too.
const { cause } = await failed.explain()
const frames = cause?.type === 'step_failed' ? (cause.error.stack ?? '').split('\n') : []
assert.equal(frames.length, 1)
assert.match(frames[0] ?? '', /main\.js/)

await engine.close()

// Both entry points of the core export the same classes, and the adapter's package loads without a database.
assert.equal(PortError, BelayError)
assert.equal(typeof postgres, 'function')

console.log('The packed packages work.')
