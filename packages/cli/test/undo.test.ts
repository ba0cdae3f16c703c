import { define, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { testStore } from './setup/store.ts'

/** A run whose undo is parked at its second step: the bank is closed until it opens. */
async function parkedPayout({ runs = 1 } = {}) {
  const bank = { isOpen: false }
  const payout = define('payout', { version: 1 })
    .step('reserve', { run: () => 1, compensate: () => {} })
    .step('transfer', {
      dependsOn: ['reserve'],
      run: () => 1,
      compensate: {
        retry: false,
        run: () => {
          if (!bank.isOpen) throw new Error('the bank is closed')
        },
      },
    })
    .step('notify', { dependsOn: ['transfer'], run: () => Promise.reject(new PermanentError('no address')) })
  const store = await testStore()
  const worker = store.engine({ workflows: [payout] })
  await worker.start()
  const keys = Array.from({ length: runs }, (_, index) => `p:${index + 1}`)
  const started = await worker.runMany(
    payout,
    keys.map((key) => ({ key })),
  )
  const statusOf = async (run: { readonly id: string }) => (await worker.runs.get(run.id))?.status
  for (const run of started) await expect.poll(() => statusOf(run)).toBe('compensation_failed')
  return { ...store, worker, bank, run: started[0]!, started, statusOf }
}

describe('belay undo', () => {
  it('retries a compensation once its cause is repaired, and says how to follow the run', async () => {
    const { env, bank, run, statusOf, worker } = await parkedPayout()
    bank.isOpen = true

    const { stdout, stderr, status } = await belay(
      ['undo', 'retry', 'p:1', 'transfer', '--reason', 'the bank is open', '--by', 'ops'],
      { env, columns: 80 },
    )

    expect(stdout).toBe('transfer: compensation_failed → compensating, as ops\n')
    expect(stderr).toBe('Follow: belay watch p:1\n')
    expect(status).toBe(0)
    await expect.poll(() => statusOf(run)).toBe('compensated')
    expect(await worker.runs.history(run.id)).toMatchObject([
      { action: 'retry_compensation', step: 'transfer', by: 'ops', reason: 'the bank is open' },
    ])
  })

  it('marks a step as undone by hand, and names the step that is undone next', async () => {
    const { env, run, statusOf } = await parkedPayout()

    const { stdout, stderr, status } = await belay(
      ['undo', 'skip', 'p:1', 'transfer', '--reason', 'paid back by hand', '--by', 'ops', '--ascii'],
      { env, columns: 80 },
    )

    expect(stdout).toBe('transfer: compensation_failed -> compensated, as ops. Next: reserve\n')
    expect(stderr).toBe('')
    expect(status).toBe(0)
    await expect.poll(() => statusOf(run)).toBe('compensated')
  })

  it('answers what it changed as a document', async () => {
    const { env, run } = await parkedPayout()

    const { stdout } = await belay(
      ['undo', 'skip', 'p:1', 'transfer', '--reason', 'by hand', '--by', 'ops', '--json'],
      { env },
    )

    expect(JSON.parse(stdout)).toEqual({
      runId: run.id,
      changed: true,
      step: 'transfer',
      from: 'compensation_failed',
      to: 'compensated',
      next: ['reserve'],
      by: 'ops',
    })
  })

  it('says in a sentence without an arrow what it changed, with --plain', async () => {
    const { env } = await parkedPayout()

    const { stdout } = await belay(
      ['undo', 'retry', 'p:1', 'transfer', '--reason', 'again', '--by', 'ops', '--plain'],
      { env, columns: 80 },
    )

    expect(stdout).toBe('transfer: compensation_failed, now compensating, as ops\n')
  })

  it('refuses a step whose turn has not come, and names the command that explains it', async () => {
    const { env, run, statusOf } = await parkedPayout()

    const { stdout, stderr, status } = await belay(['undo', 'retry', 'p:1', 'reserve', '--reason', 'again'], {
      env,
      columns: 80,
    })

    expect(stdout).toBe('')
    expect(stderr).toBe(
      `Step "reserve" of run ${run.id} cannot be retried in\nits undo: it is undone after "transfer". Its explanation tells what those wait\nfor.\n  belay explain p:1\n`,
    )
    expect(status).toBe(1)
    expect(await statusOf(run)).toBe('compensation_failed')
  })

  it('names the commands that repair the undo when the run cannot be retried before', async () => {
    const { env } = await parkedPayout()

    const { stderr, status } = await belay(['retry', 'p:1', '--reason', 'again'], { env })

    expect(stderr.split('\n').slice(1)).toEqual([
      "  belay undo retry p:1 transfer --reason '…'",
      "  belay undo skip p:1 transfer --reason '…'",
      '',
    ])
    expect(status).toBe(1)
  })

  it('gives up on no step whose handler does not hang', async () => {
    const { env } = await parkedPayout()

    const { stderr, status } = await belay(['undo', 'give-up', 'p:1', 'transfer', '--reason', 'it hangs'], {
      env,
    })

    expect(stderr).toContain('cannot be given up')
    expect(stderr).toContain("  belay undo retry p:1 transfer --reason '…'\n")
    expect(status).toBe(1)
  })

  it('gives up on a handler that hangs, once its run is stopped', async () => {
    let end = () => {}
    const hangs = new Promise<void>((resolve) => {
      end = resolve
    })
    const slow = define('slow', { version: 1 }).step('call', { run: () => hangs })
    const store = await testStore()
    const worker = store.engine({ workflows: [slow] })
    await worker.start()
    const run = await worker.run(slow, undefined, { key: 's:1' })
    const step = async () => (await worker.runs.get(run.id))?.steps[0]?.status
    await expect.poll(step).toBe('running')

    const early = await belay(['undo', 'give-up', 's:1', 'call', '--reason', 'no answer'], { env: store.env })
    await run.cancel()
    const { stdout, status } = await belay(
      ['undo', 'give-up', 's:1', 'call', '--reason', 'no answer', '--by', 'ops'],
      { env: store.env, columns: 80 },
    )
    end()

    expect(early.stderr).toContain('its run goes forward')
    expect([stdout, status]).toEqual(['call: running → failed, as ops\n', 0])
    await expect.poll(async () => (await worker.runs.get(run.id))?.status).toBe('cancelled')
  })

  it('repairs the undo of many runs after a dry run and the number that was typed', async () => {
    const { env, bank, started, statusOf } = await parkedPayout({ runs: 3 })
    bank.isOpen = true

    const { stdout, stderr, status } = await belay(
      ['undo', 'retry', '--workflow', 'payout', 'transfer', '--reason', 'open', '--by', 'ops'],
      { env, columns: 80, typed: '3\n' },
    )

    expect(stderr).toContain('Dry run: 3 compensation_failed runs\n  3  would be retried: p:3, p:2, p:1\n')
    expect(stderr).toContain('Type 3 to retry the undo of transfer in them, as ops: ')
    expect(stdout).toBe('3 retried, 0 refused.\n')
    expect(status).toBe(0)
    for (const run of started) await expect.poll(() => statusOf(run)).toBe('compensated')
  })

  it('without a step is about every parked undo of the runs that match', async () => {
    const { env, bank, started, statusOf, worker } = await parkedPayout({ runs: 3 })
    const argv = ['undo', 'retry', '--workflow', 'payout']

    const dry = await belay([...argv, '--dry-run'], { env, columns: 80 })
    const two = await belay([...argv, '--dry-run', '--limit', '2', '--json'], { env })
    const listed = await belay(['undo', 'skip', '-', '--dry-run'], { env, input: `${started[1]!.id}\n` })
    const before = await worker.runs.history(started[0]!.id)
    bank.isOpen = true
    const done = await belay([...argv, '--reason', 'open', '--by', 'ops'], { env, columns: 80, typed: '3\n' })

    expect(dry.stderr).toBe('')
    expect(dry.stdout).toBe('Dry run: 3 compensation_failed runs\n  3  would be retried: p:3, p:2, p:1\n')
    expect(JSON.parse(two.stdout)).toMatchObject({ matched: 2, changed: 2, more: true })
    expect(listed.stdout).toBe(`${started[1]!.id}\n`)
    expect([dry.status, before]).toEqual([0, []])
    expect(done.stderr).toContain('Type 3 to retry every parked undo in them, as ops: ')
    expect([done.stdout, done.status]).toEqual(['3 retried, 0 refused.\n', 0])
    for (const run of started) await expect.poll(() => statusOf(run)).toBe('compensated')
    expect(await worker.runs.history(started[0]!.id)).toMatchObject([
      { action: 'retry_compensation', step: 'transfer', reason: 'open' },
    ])
  })

  it('says in a dry run which undos it would mark as done by hand, and which runs have no such step', async () => {
    const { env, started, statusOf } = await parkedPayout({ runs: 2 })
    const input = started.map(({ id }) => `${id}\n`).join('')

    const would = await belay(['undo', 'skip', '-', 'transfer', '--dry-run'], { env, input })
    const none = await belay(['undo', 'skip', '-', 'transfr', '--dry-run'], { env, input, columns: 80 })

    expect(would.stdout).toBe(input)
    expect(would.stderr).toBe('Dry run: 2 runs\n  2  would be marked as undone: p:1, p:2\n')
    expect(none.stdout).toMatch(/^Dry run: 2 runs\n {2}2 {2}.*"transfr"/)
    expect([would.status, none.status]).toEqual([0, 1])
    expect(await statusOf(started[0]!)).toBe('compensation_failed')
  })

  it.each([
    [
      ['undo', 'retry', '--workflow', 'payout'],
      "--reason is missing: the run's history keeps it.\n  belay undo retry --workflow payout --reason '…'\n",
    ],
    [['undo', 'skip', 'p:1', '--reason', 'by hand'], 'Step is missing.\n'],
    [
      ['undo', 'skip', 'p:1', 'transfer'],
      "--reason is missing: the run's history keeps it.\n  belay undo skip p:1 transfer --reason '…'\n",
    ],
    [
      ['undo', 'retry', 'p:1', 'transfer', '--reason', '…', '--by', 'ada l'],
      "--reason is still …: the run's history keeps it.\n  belay undo retry p:1 transfer --by 'ada l' --reason '…'\n",
    ],
    [
      ['undo', 'give-up', 'p:1', 'transfer', '--reason', ' '],
      "--reason is empty: the run's history keeps it.\n  belay undo give-up p:1 transfer --reason '…'\n",
    ],
  ])('answers %j with what is missing, and does nothing', async (argv, said) => {
    const { stderr, stdout, status } = await belay(argv, { env: { DATABASE_URL: 'postgres://nowhere' } })

    expect([stderr, stdout, status]).toEqual([said, '', 2])
  })
})
