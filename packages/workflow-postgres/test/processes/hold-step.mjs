// Opens a directory, leases a step in it, and keeps it until it is killed.
import { randomUUID } from 'node:crypto'
import { pglite } from '../../dist/pglite.js'

const adapter = pglite(process.argv[2])
await adapter.open()
const shape = { steps: [{ name: 'a', dependsOn: [], compensate: 'never' }] }
const [definition] = await adapter.saveDefinitions([{ name: 'one', version: 1, checksum: 'one', shape }])
const [runId, workerId] = [randomUUID(), randomUUID()]
await adapter.startRuns([{ runId, definitionId: definition.id, workflow: 'one', key: null, input: null }])
await adapter.registerWorker({ workerId, name: 'doomed', leaseMs: 3_600_000 })
const { claims } = await adapter.claim({ workerId, definitionIds: [definition.id], limit: 1 })
console.log(JSON.stringify({ runId, workerId, claims }))
setInterval(() => {}, 1_000)
