import { define, defineGraph, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, statuses } from './bench-of-engines.ts'

interface Order {
  readonly id: string
  readonly declined?: boolean
}

const mails: unknown[] = []

const order = define('order', { version: 1, input: unchecked<Order>(), retry: false })
  .step('reserve', { run: () => ({ reservation: 'r1' }), compensate: () => {} })
  .step('charge', {
    dependsOn: ['reserve'],
    run: ({ input }) => {
      if (input.declined) throw new PermanentError('declined')
      return 'charged'
    },
  })
  .waitForSignal('shipped', { dependsOn: ['charge'], schema: unchecked<string>() })
  .onCompleted('thanks', { run: ({ outputs }) => mails.push(['thanks', outputs.shipped]) })
  .onFailed('alarm', {
    run: ({ status, cause }) => mails.push(['alarm', status, cause?.type === 'step_failed' && cause.step]),
  })
  .onCompensated('sorry', {
    run: ({ runId, input, outputs, undo }) => {
      mails.push(['sorry', runId, input.id, outputs.reserve?.reservation, undo])
      return 'sent'
    },
  })
  .finally('audit', {
    dependsOn: ['sorry'],
    onSkipped: 'run',
    run: ({ status, deps }) => [status, deps.sorry ?? null],
  })

async function working() {
  mails.length = 0
  const bench = engines()
  const engine = await bench.worker({ workflows: [order] })
  /** The ended follow-ups, oldest first. */
  const followUps = async () => {
    const runs = await bench.clock.runUntil(engine.runs.list({ workflow: 'order/ended' }))
    const ended = await Promise.all(
      [...runs].reverse().map(async ({ id }) => {
        await bench.clock.runUntil(engine.runs.handle(id).result())
        return engine.runs.get(id)
      }),
    )
    return ended
  }
  const settle = () => bench.clock.advance(5_000)
  return { ...bench, engine, followUps, settle }
}

describe('an end step past whose failure its follow-up continues', () => {
  it('lets the others run, and gives those that depend on it a settled value', async () => {
    const workflow = define('w', { version: 1, retry: false })
      .step('a', { run: () => 1 })
      .onCompleted('mail', {
        onFailure: 'continue',
        run: (): string => {
          throw new PermanentError('no such address')
        },
      })
      .onCompleted('count', {
        dependsOn: ['mail'],
        run: ({ deps }) => (deps.mail.status === 'failed' ? deps.mail.error.message : deps.mail.output),
      })
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())
    await clock.advance(5_000)

    const [ended] = await engine.runs.list({ workflow: 'w/ended' })
    const followUp = await engine.runs.get(ended!.id)
    expect(followUp?.status).toBe('completed')
    expect(statuses(followUp)).toEqual({ ended: 'completed', mail: 'failed', count: 'completed' })
    expect(followUp!.steps.find(({ name }) => name === 'count')!.output).toBe('no such address')
    expect((await run.explain()).followUp?.continued).toEqual([
      { step: 'mail', sentence: '"mail" failed (PermanentError: no such address), and the run continued.' },
    ])
  })

  it('can be written as data', () => {
    const ends = { mail: { after: 'any', handler: 'mail', onFailure: 'continue' } } as const
    const graph = defineGraph(
      'w',
      { steps: { a: { handler: 'a' } }, dag: {}, ends },
      { a: () => {}, mail: () => {} },
    )
    expect(graph.followUp?.steps.find(({ name }) => name === 'mail')?.onFailure).toBe('continue')
  })
})

describe('explaining a run with end steps', () => {
  it('says what each end step waits for, and which failed', async () => {
    const held = gate()
    const workflow = define('w', { version: 1, retry: false })
      .step('a', { run: () => 1 })
      .onCompleted('mail', { run: () => held.passed })
      .finally('count', {
        dependsOn: ['mail'],
        run: () => {
          throw new PermanentError('no counter')
        },
      })
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())
    await clock.advance(5_000)
    const explained = await run.explain()
    expect(explained.steps).toEqual([])
    expect(explained.sentence).toMatch(
      /^Run \S+ has completed\. Its end steps: run \S+ is going forward: of its 2 open steps, 1 is running\.$/,
    )
    expect(explained.followUp).toMatchObject({
      workflow: 'w/ended',
      steps: [
        { step: 'mail', reason: 'running' },
        { step: 'count', sentence: '"count" waits for "mail" (running).' },
      ],
    })

    held.open()
    await clock.advance(5_000)
    expect((await run.explain()).sentence).toMatch(
      /Its end steps: run \S+ has ended as failed, because "count" failed \(PermanentError: no counter\); an operator may retry it\.$/,
    )
  })
})

describe('the end of a run with end steps', () => {
  it('that completed is followed by what is meant for that, and always', async () => {
    const { clock, engine, followUps, settle } = await working()
    const run = await engine.run(order, { id: 'o1' })
    await clock.runUntil(run.signal('shipped', 'by lorry'))

    expect(await clock.runUntil(run.result())).toMatchObject({ shipped: 'by lorry' })
    await settle()

    const [followUp, ...others] = await followUps()
    expect(others).toEqual([])
    expect(statuses(followUp)).toEqual({
      ...{ ended: 'completed', thanks: 'completed', alarm: 'skipped', sorry: 'skipped', audit: 'completed' },
    })
    expect(mails).toEqual([['thanks', 'by lorry']])
    expect(followUp!.steps.find(({ name }) => name === 'audit')!.output).toEqual(['completed', null])
  })

  it('that was undone is followed by the mail that says so, with what had been done', async () => {
    const { clock, engine, followUps, settle } = await working()
    const run = await engine.run(order, { id: 'o1', declined: true })
    await clock.runUntil(run.result().catch(() => {}))
    await settle()

    await followUps()

    expect(mails).toEqual([
      ['alarm', 'compensated', 'charge'],
      ['sorry', run.id, 'o1', 'r1', [{ step: 'reserve', result: 'compensated' }]],
    ])
  })

  it('that was cancelled is no failure, but is followed by what is meant for an undo', async () => {
    const { clock, engine, followUps, settle } = await working()
    const run = await engine.run(order, { id: 'o1' })
    await settle()
    await clock.runUntil(run.cancel())
    await clock.runUntil(run.result().catch(() => {}))
    await settle()

    const [followUp] = await followUps()

    expect(mails.map((mail) => (mail as readonly unknown[])[0])).toEqual(['sorry'])
    expect(followUp!.steps.find(({ name }) => name === 'audit')!.output).toEqual(['cancelled', 'sent'])
  })

  it('that comes again, after an operator sent the run forward, is followed again', async () => {
    const { clock, engine, followUps, settle } = await working()
    const run = await engine.run(order, { id: 'o1', declined: true })
    await clock.runUntil(run.result().catch(() => {}))
    await settle()

    await clock.runUntil(run.retry())
    await clock.runUntil(run.result().catch(() => {}))
    await settle()

    expect(await followUps()).toHaveLength(2)
  })

  it('of a run that an operator ended is followed too', async () => {
    const { clock, engine, followUps, settle } = await working()
    const run = await engine.run(order, { id: 'o1' })
    await settle()

    await clock.runUntil(run.skipStep('shipped', { output: 'by hand' }))
    await settle()

    expect(statuses((await followUps())[0])).toMatchObject({ thanks: 'completed' })
  })

  it('is followed by another worker, if the one that saw it is gone', async () => {
    const { clock, adapter, worker, engine: made } = engines()
    const first = made({ workflows: [order] })
    const run = await first.run(order, { id: 'o1' })
    const [claimed] = await adapter.findRunEnds({ definitionIds: [1], limit: 10 })
    expect(claimed).toBeUndefined()
    await clock.runUntil(run.cancel())

    const engine = await worker({ workflows: [order] })
    await clock.advance(10_000)

    const runs = await engine.runs.list({ workflow: 'order/ended' })
    expect(runs).toMatchObject([{ status: 'completed', key: expect.stringContaining(run.id) }])
    expect(await adapter.findRunEnds({ definitionIds: [1, 2, 3], limit: 10 })).toEqual([])
  })
})

it('a follow-up whose step fails is a failed run, and the ended run is not held up', async () => {
  const { clock, worker } = engines()
  let broken = true
  const noisy = define('noisy', { version: 1, retry: false })
    .step('work', { run: () => 1 })
    .onCompleted('mail', {
      run: () => {
        if (broken) throw new PermanentError('no mail server')
      },
    })
  const engine = await worker({ workflows: [noisy] })
  const run = await engine.run(noisy, null)
  expect(await clock.runUntil(run.result())).toEqual({ work: 1 })
  await clock.advance(5_000)
  const runs = await engine.runs.list({ workflow: 'noisy/ended' })
  expect(runs).toMatchObject([{ status: 'failed' }])
  broken = false

  await clock.runUntil(engine.runs.handle(runs[0]!.id).retry())

  await clock.runUntil(engine.runs.handle(runs[0]!.id).result())
})

it('end steps of a run whose outputs are too large get none, and the log says so', async () => {
  const { clock, worker } = engines()
  const seen: unknown[] = []
  const large = define('large', { version: 1 })
    .step('a', { run: () => 'x'.repeat(700) })
    .step('b', { run: () => 'x'.repeat(700) })
    .finally('look', { run: ({ outputs }) => seen.push(outputs) })
  const engine = await worker({ workflows: [large], payloadMaxBytes: 1_000 })
  await clock.runUntil((await engine.run(large, null)).result())

  await clock.advance(5_000)

  expect(seen).toEqual([{}])
})

it('a run that moves to a version with end steps has a follow-up', async () => {
  const { clock, worker } = engines()
  const plain = define('moved', { version: 1 }).waitForSignal('go')
  const followed = define('moved', { version: 2 })
    .waitForSignal('go')
    .finally('audit', { run: () => 1 })
  const engine = await worker({ workflows: [plain, followed] })
  const run = await engine.run(plain, null)
  await clock.advance(1_000)
  expect(await clock.runUntil(engine.migrateRun(run.id, followed))).toBe(true)

  await clock.runUntil(engine.signal(run.id, 'go', 1))
  await clock.advance(5_000)

  expect(await engine.runs.list({ workflow: 'moved/ended' })).toHaveLength(1)
})

it('a graph as data has end steps too', async () => {
  const { clock, worker } = engines()
  const seen: unknown[] = []
  const graph = defineGraph(
    'as-data',
    {
      steps: { work: { handler: 'work' } },
      dag: {},
      ends: {
        thanks: { after: 'completed', handler: 'note' },
        alarm: { after: 'failed', handler: 'note' },
        audit: { after: 'any', handler: 'note', dependsOn: ['alarm'], onSkipped: 'run' },
      },
    },
    { work: () => 1, note: ({ step, runId }) => void seen.push([step, runId]) },
  )
  const engine = await worker({ workflows: [graph] })
  const run = await engine.run(graph, null)
  await clock.runUntil(run.result())

  await clock.advance(5_000)

  expect(seen).toEqual([
    ['thanks', run.id],
    ['audit', run.id],
  ])
})
