import {
  define,
  type Engine,
  type OfferedAction,
  PermanentError,
  type WorkflowDefinition,
} from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const never = () => new Promise(() => {})
const fail = (): never => {
  throw new PermanentError('no')
}
const patient = { attempts: 9, initial: '1h', max: '1h', jitter: false } as const
const stuck = { retry: patient, run: () => Promise.reject(new Error('not yet')) }
const step = (verb: string, name = 'a') => ({ verb, step: name })
const act = { by: 'ann', reason: 'tested' }

/** Takes an offer as it is: whatever else the verb needs is made up. */
async function take(engine: Engine, runId: string, offer: OfferedAction, limit?: string): Promise<unknown> {
  const { verb, step: name, run = runId } = offer
  const handle = engine.runs.handle(run)
  switch (verb) {
    case 'resume':
    case 'pause':
    case 'cancel':
    case 'retry':
      return handle[verb](act)
    case 'retryStep':
    case 'skipStep':
    case 'giveUpStep':
    case 'retryCompensation':
    case 'skipCompensation':
      return handle[verb](name!, act)
    case 'signal':
      return handle.signal(name!, 1)
    case 'approve':
    case 'reject':
      return handle[verb](name!, { by: 'ann' })
    case 'migrateRun':
      return engine.migrateRun(run, define('w', { version: 2 }).step('a', { run: () => 1 }), act)
    case 'limits.set':
      return engine.limits.set(limit!, 5)
    case 'limits.reset':
      return engine.limits.reset(limit!)
    default:
      throw new Error(`Nobody takes ${verb}.`)
  }
}

type Situation = {
  readonly workflow: WorkflowDefinition
  /** Brings the run where it is explained. */
  readonly after?: (engine: Engine, runId: string) => Promise<unknown>
  readonly workers?: readonly WorkflowDefinition[]
}

const w = () => define('w', { version: 1 })
const pivoted = () => w().step('p', { run: () => 1, pivot: true })
const undo = (compensate: object) =>
  w()
    .step('a', { run: () => 1, compensate: compensate as never })
    .step('z', { dependsOn: ['a'], run: fail })
const child = define('child', { version: 1 }).waitForSignal('go')

const SITUATIONS: readonly [string, readonly object[], () => Situation][] = [
  ['waits for its retry', [step('retryStep'), step('skipStep')], () => ({ workflow: w().step('a', stuck) })],
  ['waits for a signal', [step('signal')], () => ({ workflow: w().waitForSignal('a') })],
  ['waits for a decision', [step('approve'), step('reject')], () => ({ workflow: w().approval('a') })],
  ['sleeps', [step('skipStep')], () => ({ workflow: w().sleep('a', { for: '1h' }) })],
  [
    'polls',
    [step('retryStep'), step('skipStep')],
    () => ({ workflow: w().poll('a', { every: '1h', until: (): undefined => undefined }) }),
  ],
  [
    'is a round that begins later',
    [step('retryStep', 'a[2]'), step('skipStep', 'a[2]')],
    () => ({ workflow: w().repeat('a', { run: () => 1, until: () => false, delay: '1h' }) }),
  ],
  [
    'belongs to a paused run',
    [{ verb: 'resume' }],
    () => ({ workflow: w().waitForSignal('a'), after: (engine, id) => engine.runs.handle(id).pause() }),
  ],
  [
    'runs in a paused run',
    [{ verb: 'resume' }],
    () => ({
      workflow: w().step('a', { run: never }),
      after: (engine, id) => engine.runs.handle(id).pause(),
    }),
  ],
  [
    'failed after a pivot',
    [step('retryStep'), step('skipStep')],
    () => ({ workflow: pivoted().step('a', { dependsOn: ['p'], run: fail }) }),
  ],
  [
    'failed after a pivot when it decided items',
    [step('retryStep', 'a[]')],
    () => ({ workflow: pivoted().map('a', { dependsOn: ['p'], over: fail, run: () => 1 }) }),
  ],
  [
    'has a compensation that failed for good',
    [step('retryCompensation'), step('skipCompensation')],
    () => ({ workflow: undo({ run: fail }) }),
  ],
  [
    'has a compensation that waits for its retry',
    [step('retryCompensation'), step('skipCompensation'), { verb: 'pause' }],
    () => ({ workflow: undo(stuck) }),
  ],
  ['has a compensation that hangs', [step('giveUpStep')], () => ({ workflow: undo({ run: never }) })],
  [
    'hangs in a stopped run',
    [step('giveUpStep')],
    () => ({
      workflow: w().step('a', { run: never }),
      after: (engine, id) => engine.runs.handle(id).cancel(),
    }),
  ],
  [
    'hangs in a stopped run that is paused',
    [{ verb: 'resume' }, step('giveUpStep')],
    () => ({
      workflow: w().step('a', { run: never }),
      after: async (engine, id) => {
        await engine.runs.handle(id).cancel()
        await engine.runs.handle(id).pause()
      },
    }),
  ],
  [
    'has no worker of its version',
    [{ verb: 'migrateRun' }],
    () => ({ workflow: w().step('a', { run: () => 1 }), workers: [child] }),
  ],
  [
    'waits for a limit that is set to 0',
    [{ verb: 'limits.set' }, { verb: 'limits.reset' }],
    () => ({ workflow: w().step('a', { concurrency: { name: 'l', limit: 1 }, run: () => 1 }) }),
  ],
  ['runs', [], () => ({ workflow: w().step('a', { run: never }) })],
  ['waits for its child', [], () => ({ workflow: w().workflow('a', child, { input: () => null }) })],
]

async function explained({ workflow, after, workers = [workflow] }: Situation) {
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [...workers] })
  if ((await engine.limits.list()).length > 0) await engine.limits.set('l', 0)
  const run = await engine.run(workflow, undefined)
  await clock.advance('2s')
  await after?.(engine, run.id)
  const { steps } = await engine.explain(run.id)
  return { engine, clock, run, steps }
}

describe('a step that', () => {
  it.each(SITUATIONS)('%s is offered what the engine accepts', async (_, offers, situation) => {
    const { steps } = await explained(situation())

    const offered = steps.flatMap(({ actions }) => actions)

    expect(offered).toEqual(offers)
    // Each in a world of its own: one action may make the next one pointless.
    for (const offer of offered) {
      const { engine, run } = await explained(situation())
      await take(engine, run.id, offer, 'l')
    }
  })

  it('waits for a child that somebody paused names the child, and offers to resume it', async () => {
    const workflow = w().workflow('a', child, { input: () => null })
    const { engine, clock, run } = await explained({ workflow })
    const [own] = await engine.runs.list({ parentId: run.id })
    await engine.runs.handle(own!.id).pause()
    await clock.advance('1s')

    const [first] = (await run.explain()).steps

    expect(first).toMatchObject({ childRunId: own!.id, actions: [{ verb: 'resume', run: own!.id }] })
    await take(engine, run.id, first!.actions[0]!)
    expect((await engine.runs.get(own!.id))?.status).toBe('waiting')
  })

  it('waits for a limit names the limit, the key and its place, and is offered nothing while its turn comes', async () => {
    const limited = w().step('a', { concurrency: { name: 'l', limit: 1, key: () => 'k' }, run: never })
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [limited] })
    await engine.run(limited, undefined)
    await clock.advance('1s')
    const second = await engine.run(limited, undefined)
    await clock.advance('1s')

    const { steps } = await second.explain()

    expect(steps).toMatchObject([{ reason: 'limit', limit: { name: 'l', key: 'k', place: 1 }, actions: [] }])
  })
})

it('an item that waits for a limit says so', async () => {
  const concurrency = { name: 'l', limit: 1 }
  const workflow = w().map('a', { over: () => [1, 2], itemKey: String, concurrency, run: never })

  const { steps } = await explained({ workflow })

  expect(steps[1]).toMatchObject({
    ...{ step: 'a[2]', reason: 'limit', limit: { name: 'l', key: '', place: 2 } },
    actions: [{ verb: 'limits.set' }, { verb: 'limits.reset' }],
  })
})

describe('the explanation of a run that', () => {
  it('failed offers to retry it, and of a child that shares its fate, the run above it', async () => {
    const failing = define('failing', { version: 1 }).step('a', { run: fail })
    const parent = define('parent', { version: 1 }).workflow('pay', failing, { input: () => null })
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [parent, failing] })
    const above = await engine.run(parent, undefined)
    await clock.advance('10s')
    const [child] = await engine.runs.list({ parentId: above.id })

    const [ofParent, ofChild] = [await engine.explain(above), await engine.explain(child!.id)]

    const retry = { verb: 'retry', run: above.id }
    expect(ofParent).toMatchObject({
      actions: [retry],
      sentence: expect.stringMatching(/; an operator may retry it\.$/),
    })
    expect(ofChild).toMatchObject({
      actions: [retry],
      sentence: expect.stringContaining(
        `; an operator may retry run ${above.id} above it, which runs it again.`,
      ),
    })
    await take(engine, child!.id, ofChild.actions[0]!)
    expect((await engine.explain(above)).actions).toEqual([])
  })
})

describe('a finding about', () => {
  it('failed runs offers to retry each, and the parent of a child that shares its fate', async () => {
    const failing = define('failing', { version: 1 }).step('a', { run: fail })
    const parent = define('parent', { version: 1 }).workflow('pay', failing, { input: () => null })
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [parent, failing] })
    const alone = [await engine.run(failing, undefined), await engine.run(failing, undefined)]
    const above = await engine.run(parent, undefined)
    await clock.advance('10s')

    const { findings } = await engine.doctor()
    const found = findings.find((one) => one.type === 'failing_runs' && one.workflow === 'failing')

    const runs = [...alone.map(({ id }) => id), above.id]
    expect(new Set(found?.actions)).toEqual(new Set(runs.map((run) => ({ verb: 'retry', run }))))
    for (const offer of found!.actions) await take(engine, '', offer)
  })

  it('runs without a worker or in a long pause offers what all of them may take', async () => {
    const workflow = w().step('a', { run: () => 1 })
    const { clock, engine, worker } = engines()
    await worker({ workflows: [define('other', { version: 1 }).step('a', { run: () => 1 })] })
    const idle = engine({ workflows: [workflow] })
    await idle.run(workflow, undefined)
    const paused = await idle.run(workflow, undefined)
    await paused.pause()
    await clock.advance('2h')

    const { findings } = await idle.doctor()

    expect(Object.fromEntries(findings.map(({ type, actions }) => [type, actions]))).toEqual({
      version_without_worker: [{ verb: 'migrateRun' }, { verb: 'cancel' }],
      paused_runs: [{ verb: 'resume' }, { verb: 'cancel' }],
    })
    expect(await idle.runs.resumeMany({ workflow: 'w' })).toMatchObject({ changed: 1, refused: [] })
    expect(await idle.runs.cancelMany({ workflow: 'w' })).toMatchObject({ changed: 2, refused: [] })
  })
})
