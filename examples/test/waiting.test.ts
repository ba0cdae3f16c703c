import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPgliteDirectory, type PostgresServer, startPostgres } from '@belay/postgres-server'
import { memory } from '@belay/testing'
import { createEngine, type Engine, type WorkflowDefinition } from '@belay/workflow'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expenseClaim } from '../src/waiting/expense-claim.ts'
import { shippedOrder } from '../src/waiting/shipped-order.ts'
import { Program } from './program.ts'

const DAY = 86_400_000

/** The outside world's effects, and a store whose processes come and go while days pass. */
function setUp() {
  const adapter = memory()
  const { clock } = adapter
  const happened: string[] = []
  const act = async (what: string) => {
    happened.push(what)
  }
  const engine = (workflow: WorkflowDefinition) => createEngine({ adapter, workflows: [workflow] })
  /** A process that works until it can only wait, and then ends. */
  const work = async (workflow: WorkflowDefinition) => {
    const worker: Engine = engine(workflow)
    await worker.start()
    await clock.advance('1s')
    await clock.runUntil(worker.stop())
  }
  return { clock, happened, effects: { act }, engine, work }
}

describe('an expense claim, by a clock that tests move', () => {
  const input = { employee: 'ada', amountCents: 12_000, for: 'a train journey' }

  test('is paid when the manager approves it nine days later, and records who approved', async () => {
    const { clock, happened, effects, engine, work } = setUp()
    const claim = expenseClaim(effects)
    const run = await engine(claim).run(claim, input, { key: 'c1' })
    await work(claim)
    expect((await run.status()).status).toBe('waiting')
    await clock.advance('9d')

    const desk = engine(claim)
    await desk.approve({ workflow: claim, key: 'c1' }, 'manager', {
      by: 'grace',
      comment: 'second class',
      payload: { limitCents: 8_000 },
    })
    await work(claim)

    const { status, steps, createdAt, finishedAt } = await run.status()
    expect(status).toBe('completed')
    expect(Number(finishedAt) - Number(createdAt)).toBeGreaterThan(9 * DAY)
    expect(steps.find(({ name }) => name === 'manager')?.output).toMatchObject({
      approved: true,
      by: 'grace',
      at: '2025-01-10T00:00:01.000Z',
      comment: 'second class',
    })
    expect(happened).toEqual([
      'reserved 12000 for a train journey',
      'mail: ada claims 12000 for a train journey',
      'paid 8000 to ada, approved by grace',
    ])
  })

  test.each([
    ['rejected', 'approval_rejected'],
    ['forgotten', 'signal_timeout'],
  ])('releases the budget when it is %s', async (how, code) => {
    const { clock, happened, effects, engine, work } = setUp()
    const claim = expenseClaim(effects)
    const run = await engine(claim).run(claim, input)
    await work(claim)
    await clock.advance(how === 'rejected' ? '2d' : '14d')
    if (how === 'rejected') await run.reject('manager', { by: 'grace', comment: 'walk' })
    await work(claim)

    expect(await run.status()).toMatchObject({
      status: 'compensated',
      cause: { step: 'manager', error: { code } },
    })
    expect(happened.at(-1)).toBe('released the budget')
  })
})

describe('an order that waits for its shipment, by a clock that tests move', () => {
  const input = { customer: 'grace', totalCents: 4_500 }

  test('waits four days for the webhook and three for the unpacking', async () => {
    const { clock, happened, effects, engine, work } = setUp()
    const order = shippedOrder(effects)
    const run = await engine(order).run(order, input, { key: 'o1' })
    await work(order)
    await clock.advance('4d')
    const webhook = () =>
      engine(order).signal({ workflow: order, key: 'o1' }, 'shipped', { tracking: 'T1' }, { key: 'T1' })
    expect(await webhook()).toMatchObject({ result: 'delivered' })
    expect(await webhook()).toMatchObject({ result: 'duplicate' })
    await work(order)
    expect(happened.at(-1)).toBe('mail: on its way as T1')
    await clock.advance('2d')
    await work(order)
    expect((await run.status()).status).toBe('waiting')
    await clock.advance('1d')
    await work(order)

    expect((await run.status()).status).toBe('completed')
    expect(happened.at(-1)).toBe('mail: how do you like it?')
  })

  test('refunds the money when no webhook comes in a week', async () => {
    const { clock, happened, effects, engine, work } = setUp()
    const order = shippedOrder(effects)
    const run = await engine(order).run(order, input)
    await work(order)
    await clock.advance('7d')
    await work(order)
    expect((await run.status()).status).toBe('compensated')
    expect(happened).toEqual(['charged 4500 to grace', 'refunded 4500 to grace'])
  })
})

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ major: 18, inMemory: true })
})
afterAll(() => server.stop())

// One story for each database, told in order. Every process is killed with kill -9 as soon as it has done its part.
describe.each([
  ['in an embedded database', () => ({})],
  ['on PostgreSQL', () => ({ DATABASE_URL: server.url })],
])('with every process killed, %s', (where, environment) => {
  const isEmbedded = where === 'in an embedded database'
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-waiting-'))
    if (isEmbedded) await createPgliteDirectory(join(folder, 'database'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Starts a process, waits until it prints this, and kills it. */
  async function killedOnce(said: string | readonly string[], ...command: readonly string[]): Promise<void> {
    const flags = ['--folder', folder, '--unpacking', '1500ms', '--stay']
    const program = new Program('waiting/desk.js', [...command, ...flags], environment())
    for (const line of [said].flat()) await program.says(line)
    expect((await program.kill('SIGKILL')).signal).toBe('SIGKILL')
  }

  /** The outside world's effects, by step. */
  async function effects(): Promise<readonly string[]> {
    const lines = (await readFile(join(folder, 'effects.txt'), 'utf8')).trimEnd().split('\n')
    return lines.map((line) => line.split('\t')[1]!)
  }

  // Each process starts an embedded database anew, which takes seconds: the order below shows there that a database outlives its processes.
  test.skipIf(isEmbedded)('an expense claim is approved, paid once and completed', async () => {
    await killedOnce('claim c1 is run', 'claim', 'c1')
    await killedOnce('manager: waiting', 'work')
    await killedOnce('approval of c1: delivered', 'approve', 'c1', 'grace', '8000')
    await killedOnce('approval of c1: duplicate', 'approve', 'c1', 'grace', '8000')
    await killedOnce('run: completed', 'work')
    await killedOnce('c1: completed', 'show')
    expect(await effects()).toEqual([
      'reserved 12000 for a train journey',
      'mail: ada claims 12000 for a train journey',
      'paid 8000 to ada, approved by grace',
    ])
  })

  // A rejection travels like an approval.
  test.skipIf(isEmbedded)('another is rejected, and its budget is released', async () => {
    await killedOnce('claim c2 is run', 'claim', 'c2')
    await killedOnce('rejection of c2: kept', 'reject', 'c2', 'grace', 'walk')
    await killedOnce('run: compensated', 'work')
    await killedOnce('c2: compensated', 'show')
    expect((await effects()).at(-1)).toBe('released the budget')
  })

  test('an order waits for its webhook, sleeps, and completes', async () => {
    await killedOnce('order o1 is run', 'order', 'o1')
    await killedOnce('shipped: waiting', 'work')
    await killedOnce('shipment of o1: delivered', 'ship', 'o1', 'T1')
    await killedOnce('unpacking: waiting', 'work')
    await killedOnce('run: completed', 'work')
    expect((await effects()).slice(-3)).toEqual([
      'charged 4500 to grace',
      'mail: on its way as T1',
      'mail: how do you like it?',
    ])
  })
})
