import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../src/index.ts'
import { MIGRATIONS } from '../src/migrate/migrations.generated.ts'
import { createDatabase, servers, type TestDatabase } from './setup/database.ts'

const BEFORE_ROUNDS = 5

describe.each(servers)('rows from before rounds, on $name', ({ url }) => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createDatabase(url)
    for (const { sql } of MIGRATIONS.slice(0, BEFORE_ROUNDS)) await database.pool.query(sql)
  })
  afterAll(() => database.drop())

  it('keep their idempotency keys, their counts, and the undos that are under way', async () => {
    const runId = randomUUID()
    const workerId = randomUUID()
    await database.pool.query(`
      insert into belay.workflow_definitions (version, created_at, name, checksum, shape)
      values (1, now(), 'old', 'old', '{"steps":[{"name":"a","dependsOn":[],"compensate":"completed"},{"name":"b","dependsOn":[0],"compensate":"never"},{"name":"c","dependsOn":[1],"compensate":"never"}]}');
      insert into belay.workflow_definition_steps (definition_id, step, name, dependencies, dependents)
      values (1, 0, 'a', '{}', '{1}'), (1, 1, 'b', '{0}', '{2}'), (1, 2, 'c', '{1}', '{}');
      insert into belay.workflow_runs (id, definition_id, open_steps, created_at, status, stop, ends_as, workflow, cause)
      values ('${runId}', 1, 1, now(), 'compensating', 'failure', 'compensated', 'old', '{"type":"cancelled"}');
      insert into belay.workflow_steps (run_id, step, open_dependencies, attempt, failures, worker_id, started_at, finished_at, status, undo_of, error)
      values ('${runId}', 0, 0, 80000005, 1, null, now(), now(), 'compensating', 'completed', '{"message":"refund is busy"}'),
        ('${runId}', 1, 0, 40000001, 0, '${workerId}', now(), now(), 'completed', null, null),
        ('${runId}', 2, 0, 3, 2, '${workerId}', now(), now(), 'failed', null, '{"message":"no"}');
      insert into belay.workflow_history (run_id, at, action) values ('${runId}', now(), 'retry');
      insert into belay.workflow_ready (available_at, definition_id, step, attempt, run_id) values (now(), 1, 0, 80000005, '${runId}')`)

    const store = postgres(database.pool)
    database.stores.push(store)
    await store.migrate()
    await store.open()
    const before = (await store.readRun(runId))!.steps
    const reader = randomUUID()
    await store.registerWorker({ workerId: reader, name: 'w', leaseMs: 60_000 })
    const claimed = await store.claim({ workerId: reader, definitionIds: [1], limit: 5 })

    expect(before).toMatchObject([
      {
        round: 3,
        attempts: 5,
        undo: { attempts: 1, failures: 1, losses: 0, error: '{"message":"refund is busy"}', skipped: false },
      },
      { round: 2, attempts: 1, undo: null },
      { round: 1, attempts: 3, failures: 2, undo: null },
    ])
    expect(claimed).toMatchObject({
      claims: [{ fence: 80_000_006, round: 3, direction: 'undo', attempt: 2, failures: 1, losses: 0 }],
    })
  })
})
