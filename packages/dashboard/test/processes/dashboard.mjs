// A dashboard for the tests beside it, which kill it. It prints its address once it listens.
import { createServer } from 'node:http'
import { dashboard, toNodeHandler } from '@belay/dashboard'
import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'

const { DATABASE_URL, SCHEMA } = process.env
const adapter = postgres(DATABASE_URL, { schema: SCHEMA, autoMigrate: false })
const engine = createEngine({ adapter, logger: false })
const handler = dashboard({ engine, authorize: () => ({ by: 'ada', can: 'all' }) })
const server = createServer(toNodeHandler(handler))
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
