import { define, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 })
  .waitForSignal('shipped')
  .step('bill', { dependsOn: ['shipped'], run: () => 1 })

/** A run that nobody works on: it stays as the command line leaves it. */
async function waitingOrder() {
  const store = await testStore()
  const engine = store.engine()
  const run = await engine.run(order, undefined, { key: 'order:1' })
  return { ...store, engine, run }
}

const AT = ['--by', 'ops', '--reason', 'a test']

describe('an action on one run', () => {
  it('pauses, resumes and cancels it, and the history knows who and why', async () => {
    const { env, engine, run } = await waitingOrder()

    const paused = await belay(['pause', 'order:1', '--by', 'ops'], { env, columns: 80 })
    const again = await belay(['pause', 'order:1', '--by', 'ops'], { env, columns: 80 })
    const resumed = await belay(['resume', run.id.slice(0, 13), '--by', 'ops'], { env, columns: 80 })
    const cancelled = await belay(['cancel', 'fulfil-order/order:1', ...AT], { env, columns: 80 })

    expect(paused).toEqual({ stdout: 'order:1: running → paused, as ops\n', stderr: '', status: 0 })
    expect(again).toEqual({
      stdout: 'order:1 is paused: there was nothing to change.\n',
      stderr: '',
      status: 0,
    })
    expect(resumed.stdout).toBe('order:1: paused → running, as ops\n')
    expect(cancelled.stdout).toBe('order:1: running → compensating, as ops\n')
    expect(cancelled.stderr).toBe('Follow: belay watch order:1\n')
    expect(await engine.runs.history(run.id)).toMatchObject([
      { action: 'pause', by: 'ops' },
      { action: 'resume', by: 'ops' },
      { action: 'cancel', by: 'ops', reason: 'a test' },
    ])
  })

  it('cancels it without an undo', async () => {
    const { env, engine, run } = await waitingOrder()

    await belay(['cancel', 'order:1', '--no-compensate', ...AT], { env })

    expect(await engine.runs.history(run.id)).toMatchObject([
      { action: 'cancel', change: { compensate: false } },
    ])
  })

  it('acts as the user of this machine unless --by names another', async () => {
    const { env, engine, run } = await waitingOrder()

    const { stdout } = await belay(['pause', 'order:1', '--json'], { env })

    const [entry] = await engine.runs.history(run.id)
    expect(entry?.by).toMatch(/./)
    expect(JSON.parse(stdout)).toEqual({
      runId: run.id,
      changed: true,
      from: 'running',
      to: 'paused',
      by: entry?.by,
    })
  })

  it('gives it another place in line', async () => {
    const { env, engine, run } = await waitingOrder()

    const { stdout } = await belay(['priority', 'order:1', '10', '--by', 'ops'], { env, columns: 80 })
    const again = await belay(['priority', 'order:1', '10'], { env, columns: 80 })
    const many = await belay(['priority', '--tag', 'none', '7', '--yes'], { env, columns: 80 })

    expect(stdout).toBe('order:1: priority 0 → 10, as ops\n')
    expect(again.stdout).toBe('order:1 is running: there was nothing to change.\n')
    expect(many.stderr).toBe('Dry run: 0 scheduled, running, waiting or paused runs\n')
    expect((await engine.runs.get(run.id))?.priority).toBe(10)
  })

  it('skips a step, with an output that stands in', async () => {
    const { env, engine, run } = await waitingOrder()

    const { stdout } = await belay(['skip', 'order:1', 'shipped', '--output', '{"by":"hand"}', ...AT], {
      env,
      columns: 80,
    })

    expect(stdout).toBe('shipped: ready → skipped, as ops. Next: bill\n')
    expect((await engine.runs.get(run.id))?.steps[0]).toMatchObject({
      status: 'skipped',
      output: { by: 'hand' },
    })
  })

  it('says whether it would be accepted, with --dry-run', async () => {
    const { env, engine, run } = await waitingOrder()

    const would = await belay(['pause', 'order:1', '--dry-run'], { env, columns: 80 })
    const refused = await belay(['retry', 'order:1', '--dry-run'], { env, columns: 80 })

    expect(would.stdout).toBe('Dry run: 1 run\n  1  would be paused: order:1\n')
    expect(would.status).toBe(0)
    expect(refused.stdout).toBe(
      [
        'Dry run: 1 run',
        '  1  cannot be retried: it is running. Nothing in it has failed for good. To',
        '     bring the next try of a step forward, retry that step.',
        '',
      ].join('\n'),
    )
    expect(refused.status).toBe(1)
    expect(await engine.runs.history(run.id)).toEqual([])
  })

  it('retries a run that failed, and a step that failed it', async () => {
    const network = { isUp: false }
    const call = define('call', { version: 1 }).step('ask', {
      run: () => {
        if (!network.isUp) throw new PermanentError('no network')
      },
    })
    const store = await testStore()
    const worker = store.engine({ workflows: [call] })
    await worker.start()
    const [one, two] = await worker.runMany(call, [{ key: 'c:1' }, { key: 'c:2' }])
    await Promise.allSettled([one!.result(), two!.result()])
    network.isUp = true

    const run = await belay(['retry', 'c:1', ...AT], { env: store.env, columns: 80 })
    const step = await belay(['retry', 'c:2', 'ask', ...AT], { env: store.env, columns: 80 })
    await Promise.all([one!.result(), two!.result()])
    const late = await belay(['retry', 'c:1', ...AT], { env: store.env, columns: 80 })

    expect(run.stdout).toMatch(/^c:1: failed → (running|completed), as ops\n$/)
    expect(run.stderr).toBe('Follow: belay watch c:1\n')
    expect(step.stdout).toBe('ask: failed → ready, as ops\n')
    expect(late.stderr).toBe(
      `Run ${one!.id} cannot be retried: it has completed.\nStart another run.\n  belay show c:1\n`,
    )
    expect([run.status, step.status, late.status]).toEqual([0, 0, 1])
  })

  it('names the parent through which a child is retried', async () => {
    const child = define('child', { version: 1 }).step('fail', {
      run: () => Promise.reject(new PermanentError('no')),
    })
    const parent = define('parent', { version: 1 }).workflow('go', child, {})
    const store = await testStore()
    const worker = store.engine({ workflows: [parent] })
    await worker.start()
    const run = await worker.run(parent)
    await run.result().catch(() => {})
    const [own] = await worker.runs.list({ parentId: run.id })

    const { stderr, status } = await belay(['retry', own!.id, ...AT], { env: store.env })

    expect(stderr).toContain('cannot be retried alone: it shares the fate of its parent.')
    expect(stderr).toContain(`\n  belay retry ${run.id} --reason '…'\n`)
    expect(status).toBe(1)
  })

  it.each([
    [
      ['cancel', 'order:9182'],
      "--reason is missing: the run's history keeps it.\n  belay cancel order:9182 --reason '…'\n",
    ],
    [
      ['skip', 'order:9182', 'it is new', '--url', 'postgres://ann:secret@db/shop'],
      "--reason is missing: the run's history keeps it.\n  belay skip order:9182 'it is new' --url 'postgres://ann:…@db/shop' --reason '…'\n",
    ],
    [['skip', 'order:9182'], 'Step is missing.\n'],
    [['priority', 'order:9182'], 'N is missing: the priority, from 0 to 1,000.\n'],
    [['priority', 'order:9182', 'high'], 'A priority is a whole number from 0 to 1,000, got "high".\n'],
    [['move', 'order:9182'], '--to is missing: the version it moves to.\n  belay move order:9182 --to 4\n'],
  ])('answers %j with what is missing, and does nothing', async (argv, said) => {
    const { stderr, stdout, status } = await belay(argv, { env: { DATABASE_URL: 'postgres://nowhere' } })

    expect([stderr.replace('<version>', '4'), stdout, status]).toEqual([said, '', 2])
  })

  it('names no run, a wrong step and a wrong number with the status that belongs to each', async () => {
    const { env } = await waitingOrder()

    const none = await belay(['pause', 'order:2'], { env })
    const step = await belay(['skip', 'order:1', 'shiped', ...AT], { env })
    const number = await belay(['priority', 'order:1', '2000'], { env })
    const output = await belay(['skip', 'order:1', 'shipped', '--output', 'yes', ...AT], { env })

    expect([none.status, none.stderr]).toEqual([1, 'No run has the key "order:2".\n  belay list\n'])
    expect([step.status, step.stderr]).toEqual([2, expect.stringContaining('Did you mean "shipped"?')])
    expect([number.status, number.stderr]).toEqual([2, expect.stringContaining('from 0 to 1')])
    expect([output.status, output.stderr]).toEqual([2, expect.stringMatching(/^--output is not JSON: /)])
  })
})
