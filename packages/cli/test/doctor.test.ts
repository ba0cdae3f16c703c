import { define, PermanentError } from '@belay/workflow'
import { expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const NEWEST = '[0-9]{4}_[a-z_]+'

const order = define('fulfil-order', { version: 3 })
  .step('charge', {
    concurrency: { name: 'payments', limit: 20 },
    run: () => 1,
    compensate: {
      retry: false,
      run: () => {
        throw new Error('refunds are closed')
      },
    },
  })
  .step('ship', {
    dependsOn: ['charge'],
    run: () => {
      throw new PermanentError('no courier')
    },
  })

it('a healthy store is one line with its place, its server and its newest migration', async () => {
  const { env } = await testStore()

  const { stdout, stderr, status } = await belay(['doctor'], { env, columns: 80 })

  expect(stdout).toMatch(new RegExp(`^● healthy  \\S.* at \\S+:\\d+, PostgreSQL 18\\.\\d+, ${NEWEST}\\n$`))
  expect(stderr).toBe('')
  expect(status).toBe(0)
})

it('a finding is a sentence with commands that lead on, in 80 columns', async () => {
  const { env, engine } = await testStore()
  const worker = engine({ workflows: [order] })
  await worker.start()
  const run = await worker.run(order, undefined, { key: 'order:1' })
  await run.result().catch(() => {})

  const { stdout, stderr, status } = await belay(['doctor'], { env, columns: 80 })

  expect(stdout).toContain('! The undo of 1 run of workflow "fulfil-order" version 3 has failed for good\n')
  expect(stdout).toContain(`\n  (${run.id}).\n    belay explain ${run.id}\n`)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  expect(stderr).toBe('1 finding.\n')
  expect(status).toBe(1)
})

it('a version without a worker offers to move its runs to the newest version', async () => {
  const { env, engine } = await testStore()
  const old = define('old-flow', { version: 2 }).step('a', { run: () => 1 })
  const starter = engine()
  const run = await starter.run(old)
  await starter.run(old)
  await engine({ workflows: [order] }).start()
  await starter.run(define('old-flow', { version: 3 }).step('a', { run: () => 1 }))

  const { stdout } = await belay(['doctor', '--plain'], { env, columns: 80 })
  const { stdout: piped } = await belay(['doctor'], { env })

  expect(stdout).not.toContain('!')
  expect(stdout).toMatch(/^No live worker has handlers for workflow "old-flow" version [23]/)
  expect(piped).toContain('    belay move --workflow old-flow --version 2 --to 3 --dry-run\n')
  expect(piped).toContain("    belay cancel --workflow old-flow --version 2 --reason '…'\n")
  expect(piped).toContain(run.id)
})

it('while no worker is live, nothing is offered that would undo healthy runs', async () => {
  const { env, engine } = await testStore()
  await engine().run(order)

  const alone = await belay(['doctor'], { env })
  await engine({ workflows: [define('other', { version: 1 }).step('a', { run: () => 1 })] }).start()
  const beside = await belay(['doctor'], { env })

  expect(alone.stdout).toMatch(
    /^No worker is live: 1 run of workflow "fulfil-order" version 3 cannot go on, .*\n {2}Start a worker whose `workflows` include version 3 of "fulfil-order" with its handlers\. They wait until then\.\n$/,
  )
  // There is no version to which it could move.
  expect(beside.stdout).toContain('Start a worker whose `workflows` include version 3')
  expect(beside.stdout).not.toContain('belay ')
})

it('a closed limit offers to be reset', async () => {
  const { env, engine } = await testStore()
  const worker = engine({ workflows: [order] })
  await worker.start()
  await worker.limits.set('payments', 0)
  const run = await worker.run(order)
  await expect.poll(async () => (await worker.limits.get('payments'))?.waiting).toBe(1)

  const { stdout, status } = await belay(['doctor'], { env, columns: 80 })

  expect(stdout).toBe(
    '! 1 step waits for limit "payments", which is set to 0: nobody enters.\n    belay limits reset payments\n',
  )
  expect(status).toBe(1)
  await run.cancel()
})

it('JSON has the names of the API', async () => {
  const { env, schema } = await testStore()

  const { stdout } = await belay(['doctor', '--json'], { env })

  expect(JSON.parse(stdout)).toMatchObject({ healthy: true, findings: [], store: { schema } })
})

it('a store without tables leads to the migration', async () => {
  const { env } = await testStore()

  const { stdout, status } = await belay(['doctor', '--schema', 'empty'], { env, columns: 80 })

  expect(stdout).toBe('! There are no tables of Belay\'s in schema "empty".\n    belay migrate --dry-run\n')
  expect(status).toBe(3)
})
