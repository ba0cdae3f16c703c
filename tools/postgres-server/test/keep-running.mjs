// Starts a server, says where it is, and stays until it is killed.
// biome-ignore lint/correctness/useImportExtensions: the rule takes the declarations beside this module for the module.
import { startPostgres } from '../src/index.mjs'

const server = await startPostgres()
const { default: pg } = await import('pg')
const client = new pg.Client({ connectionString: server.url })
await client.connect()
const { rows } = await client.query(`select current_setting('data_directory') as data`)
await client.end()
console.log(JSON.stringify({ url: server.url, data: rows[0].data }))
setInterval(() => {}, 1_000)
