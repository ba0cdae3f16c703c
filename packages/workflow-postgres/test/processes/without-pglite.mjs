// Uses the adapter in a process in which PGlite itself cannot be loaded, and says how far it came.
import { register } from 'node:module'

const hooks = `export async function resolve(name, context, next) {
  if (name === '@electric-sql/pglite') throw new Error('PGlite was loaded')
  return next(name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const { pglite, pgliteTransaction } = await import('../../dist/pglite.js')
pgliteTransaction()
// An instance that runs elsewhere answers that nothing is there.
const elsewhere = { waitReady: Promise.resolve(), query: async () => ({ rows: [] }) }
const answers = [pglite(elsewhere, { autoMigrate: false }), pglite()].map((adapter) =>
  adapter.open().then(
    () => 'open',
    (error) => error.message,
  ),
)
console.log(JSON.stringify(await Promise.all(answers)))
