import { define, type Explanation, PermanentError, type RunSnapshot } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** reserve → charge → ship, which fails. The compensation of charge throws while `broken` returns true. */
function failing(undone: string[], broken: () => boolean) {
  return define('failing', { version: 1 })
    .step('reserve', { run: () => 'r1', compensate: () => undone.push('reserve') })
    .step('charge', {
      dependsOn: ['reserve'],
      run: () => 'ch_1',
      compensate: {
        retry: { attempts: 100, initial: '10m', max: '10m', jitter: false },
        run: () => {
          if (broken()) throw new Error('the bank is down')
          undone.push('charge')
        },
      },
    })
    .step('ship', {
      dependsOn: ['charge'],
      run: () => {
        throw new PermanentError('no')
      },
    })
}

async function waitingForItsNextTry() {
  const bench = engines()
  const undone: string[] = []
  const state = { broken: true }
  const workflow = failing(undone, () => state.broken)
  const engine = await bench.worker({ workflows: [workflow] })
  const run = await engine.run(workflow)
  await bench.clock.advance('5s')
  return { ...bench, engine, workflow, run, undone, state }
}

function reasons({ steps }: Explanation) {
  return Object.fromEntries(steps.map(({ step, reason, sentence }) => [step, `${reason}: ${sentence}`]))
}

function statuses({ steps }: RunSnapshot) {
  return Object.fromEntries(steps.map(({ name, status }) => [name, status]))
}

describe('an undo that waits for its next attempt', () => {
  it('is shown by explain(), with the possible actions', async () => {
    const { run, clock } = await waitingForItsNextTry()

    const explained = await run.explain()
    const { steps } = await run.status()
    const dueIn = steps.map(({ undo }) => undo?.dueAt && undo.dueAt.getTime() - clock.now())
    expect(dueIn).toEqual([undefined, expect.closeTo(600_000 - 5_000, -3), undefined])

    expect(explained.sentence).toMatch(
      /is being undone, because "ship" failed \(PermanentError: no\): 2 steps to go\.$/,
    )
    expect(reasons(explained)).toEqual({
      reserve: expect.stringMatching(/^dependency: "reserve" is undone after "charge"/),
      charge: expect.stringMatching(
        /^retry: The undo of "charge" failed once \(Error: the bank is down\) and is tried again at .*\. An operator may retry it now, mark it as undone once that was done by hand, or pause the run\.$/,
      ),
    })
  })

  it('is tried now if an operator says so', async () => {
    const { clock, run, undone, state } = await waitingForItsNextTry()
    state.broken = false

    await run.retryCompensation('charge', { by: 'ann' })
    const error = await clock.runUntil(
      run.result().catch((e: unknown) => e),
      { limit: '30s' },
    )

    expect(error).toMatchObject({ status: 'compensated' })
    expect(undone).toEqual(['charge', 'reserve'])
  })

  it('is skipped if an operator says so, and has its own result in the report', async () => {
    const { clock, run, undone } = await waitingForItsNextTry()

    await run.skipCompensation('charge', { by: 'ann', reason: 'refunded by hand' })
    const error = await clock.runUntil(
      run.result().catch((e: unknown) => e),
      { limit: '30s' },
    )

    expect(undone).toEqual(['reserve'])
    expect(error).toMatchObject({
      status: 'compensated',
      undo: [
        { step: 'reserve', result: 'compensated' },
        { step: 'charge', result: 'skipped' },
      ],
      message: expect.stringMatching(/Undone: 1 of 2\. An operator marked "charge" as undone\.$/),
    })
    expect((await run.status()).steps[1]).toMatchObject({ status: 'compensated', undo: { skipped: true } })
  })

  it('does not begin while its run is paused, and begins at its time once it is resumed', async () => {
    const { clock, run, undone, state } = await waitingForItsNextTry()
    state.broken = false

    await run.pause({ by: 'ann' })
    await clock.advance('1h')

    expect(undone).toEqual([])
    const explained = await run.explain()
    expect(explained.sentence).toMatch(
      /is being undone, because "ship" failed \(PermanentError: no\), and was paused by an operator: 2 steps to go, and no undo begins until it is resumed\.$/,
    )
    expect(reasons(explained)['charge']).toBe(
      'paused: The undo of "charge" does not begin until the run is resumed.',
    )
    await run.resume({ by: 'ann' })
    await clock.runUntil(
      run.result().catch(() => {}),
      { limit: '30s' },
    )
    expect(undone).toEqual(['charge', 'reserve'])
  })

  it('continues if somebody cancels the run; a cancellation without an undo is refused', async () => {
    const { run } = await waitingForItsNextTry()

    expect(await run.cancel()).toBe(false)
    await expect(run.cancel({ compensate: false })).rejects.toMatchObject({
      code: 'action_refused',
      message: expect.stringMatching(
        /cannot be cancelled without its undo: it is being undone\. A cancellation stops no undo\. A pause does/,
      ),
    })

    expect(statuses(await run.status())).toMatchObject({ charge: 'compensating' })
  })
})

describe('a run that fails while it is paused', () => {
  async function failedWhilePaused() {
    const bench = engines()
    const undone: string[] = []
    const workflow = define('paused', { version: 1, deadline: '10m' })
      .step('reserve', { run: () => 'r1', compensate: () => undone.push('reserve') })
      .step('rate', { dependsOn: ['reserve'], run: () => bench.sleep(60_000) })
      .step('charge', { dependsOn: ['rate'], run: () => 'ch_1' })
    const engine = await bench.worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await bench.clock.advance('1s')
    await run.pause()
    const changes: string[] = []
    for (const name of ['run.compensating', 'run.paused'] as const) {
      engine.on(name, () => changes.push(name))
    }
    await bench.clock.advance('30m')
    return { ...bench, engine, run, undone, changes }
  }

  it('stays paused past its deadline, says why, and is undone once it is resumed', async () => {
    const { clock, run, undone, changes } = await failedWhilePaused()

    expect(await run.status()).toMatchObject({ status: 'paused', cause: { type: 'deadline' } })
    expect([undone, changes]).toEqual([[], []])
    expect((await run.explain()).sentence).toMatch(
      /was stopped, because it missed its deadline, \S+Z, and is paused by an operator: its undo begins once it is resumed\.$/,
    )
    await run.resume()
    const error = await clock.runUntil(
      run.result().catch((e: unknown) => e),
      { limit: '5s' },
    )

    expect(error).toMatchObject({ status: 'compensated', reason: { type: 'deadline' } })
    expect(undone).toEqual(['reserve'])
    expect(changes).toEqual(['run.compensating'])
  })

  it('can be cancelled by an operator who leaves its effects', async () => {
    const { clock, run, undone } = await failedWhilePaused()

    expect(await run.cancel({ compensate: false, reason: 'kept' })).toBe(true)
    const error = await clock.runUntil(
      run.result().catch((e: unknown) => e),
      { limit: '5s' },
    )

    expect(error).toMatchObject({ status: 'cancelled', reason: { type: 'cancelled', reason: 'kept' } })
    expect(undone).toEqual([])
  })
})
