// Uses the adapter in a process that cannot load PGlite, and prints how far it got.
import { register } from 'node:module'

const hooks = `export async function resolve(name, context, next) {
  if (name === '@electric-sql/pglite') throw new Error('PGlite was loaded')
  return next(name, context)
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)

const { pglite, pgliteTransaction } = await import('../../dist/pglite.js')
pgliteTransaction()
// A fake instance that runs elsewhere and returns no rows.
const elsewhere = { waitReady: Promise.resolve(), query: async () => ({ rows: [] }) }
const answers = [pglite(elsewhere, { autoMigrate: false }), pglite()].map((adapter) =>
  adapter.open().then(
    () => 'open',
    (error) => error.message,
  ),
)
console.log(JSON.stringify(await Promise.all(answers)))
