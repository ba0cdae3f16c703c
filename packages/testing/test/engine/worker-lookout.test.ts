import { define, type EngineOptions, type Logger } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const order = define('order', { version: 2 }).step('pack', { run: () => 'packed' })
const asking = define('asking', { version: 1 }).waitForSignal('go')
const parent = define('parent', { version: 1 }).workflow('order', 'order', { input: () => undefined })

/** Engines in real time, as far as they know: their clock does not say that it can stand still. */
function world() {
  const made = engines()
  const warnings: string[] = []
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (message) => void warnings.push(message) }
  const { clock } = made
  const real = {
    now: () => clock.now(),
    after: (delayMs: number, fire: () => void) => clock.after(delayMs, fire),
  }
  const engine = (options: Partial<EngineOptions> = {}) => made.engine({ clock: real, logger, ...options })
  return { ...made, engine, warnings }
}

const MISSING =
  /^No live worker can run workflow "order" version 2, so run [0-9a-f-]{36} cannot go on\. Start a worker whose `workflows` include it\.$/

describe('awaiting a run that no live worker can run', () => {
  it.each(['result()', 'step()', 'watch()'])('with %s warns after a second, once a minute', async (how) => {
    const { clock, engine, warnings } = world()
    const web = engine()
    const run = await web.run(order)
    const iterator = run.watch()
    const next = async () => {
      for await (const _ of iterator);
    }
    const wait = how === 'result()' ? run.result() : how === 'step()' ? run.step('pack') : next()
    wait.catch(() => {})

    await clock.advance(900)
    expect(warnings).toEqual([])
    await clock.advance('30s')
    expect(warnings).toEqual([expect.stringMatching(MISSING)])
    await clock.advance('60s')
    expect(warnings).toHaveLength(2)
    await clock.runUntil(web.close())
  })

  it('warns once for all runs of a version', async () => {
    const { clock, engine, warnings } = world()
    const web = engine()
    const runs = await web.runMany(
      order,
      Array.from({ length: 50 }, () => ({})),
    )
    for (const run of runs) run.result().catch(() => {})

    await clock.advance('30s')

    expect(warnings).toHaveLength(1)
    await clock.runUntil(web.close())
  })

  it('says that this engine was not started, or does not have the workflow', async () => {
    const { clock, engine, warnings } = world()
    const idle = engine({ workflows: [order] })
    const run = await idle.run(order)
    run.result().catch(() => {})
    await clock.advance('2s')
    expect(warnings[0]).toContain('but was not started: call start() on it')
    await clock.runUntil(idle.stop())

    const other = engine({ workflows: [asking] })
    await other.start()
    other.runs
      .handle(run.id)
      .result()
      .catch(() => {})
    await clock.advance('2s')

    expect(warnings[1]).toContain(
      '(1 without it is live). Start a worker whose `workflows` include it, or add',
    )
    await clock.runUntil(other.close())
  })

  it('warns when the last worker of the version has left', async () => {
    const { clock, engine, warnings } = world()
    const web = engine()
    const slow = define('slow', { version: 1 })
      .sleep('nap', { for: '30s' })
      .step('end', { dependsOn: ['nap'], run: () => 1 })
    const worker = engine({ workflows: [slow] })
    await worker.start()
    const run = await web.run(slow)
    run.result().catch(() => {})
    await clock.advance('10s')
    await clock.runUntil(worker.stop())

    expect(warnings).toEqual([])
    await clock.advance('1m')

    expect(warnings[0]).toContain('workflow "slow" version 1')
    await clock.runUntil(web.close())
  })

  it('names the child that a run waits for', async () => {
    const { clock, engine, warnings } = world()
    const web = engine()
    const worker = engine({ workflows: [parent] })
    await worker.start()
    await web.run(order)
    const run = await worker.run(parent)
    run.result().catch(() => {})

    await clock.advance('5s')

    const [child] = await web.runs.list({ workflow: 'order', limit: 1 })
    expect(warnings).toEqual([expect.stringContaining(`so run ${child!.id} cannot go on`)])
    await clock.runUntil(web.close())
  })

  it('does not warn of a run that needs none: it is paused or scheduled', async () => {
    const { clock, engine, warnings } = world()
    const web = engine()
    const worker = engine({ workflows: [asking] })
    await worker.start()
    const paused = await web.run(asking)
    const scheduled = await web.run(asking, undefined, { delay: '1h' })
    await clock.advance('1s')
    await paused.pause()
    await clock.runUntil(worker.stop())
    for (const run of [paused, scheduled]) run.result().catch(() => {})

    await clock.advance('2m')

    expect(warnings).toEqual([])
    await clock.runUntil(web.close())
  })

  it('asks nothing for a run that ends within a second, and little for one that goes on', async () => {
    const { clock, adapter, engine, warnings } = world()
    let asked = 0
    const counting = changed(adapter, {
      listWorkers: (request) => {
        asked += 1
        return adapter.listWorkers(request)
      },
    })
    const long = define('long', { version: 1 }).step('work', {
      run: () => new Promise((resolve) => clock.after(90_000, () => resolve('done'))),
    })
    const worker = engine({ adapter: counting, workflows: [order, long] })
    await worker.start()

    const short = await worker.run(order)
    await clock.runUntil(short.result())
    await clock.advance('5s')
    expect(asked).toBe(0)
    const run = await worker.run(long)
    await clock.runUntil(run.result())

    expect(asked).toBe(2)
    expect(warnings).toEqual([])
    await clock.runUntil(worker.close())
  })

  it('says so in the error of a wait that times out', async () => {
    const { clock, engine } = world()
    const web = engine()
    const run = await web.run(order)

    const waits: Promise<unknown>[] = [
      run.result({ timeout: '500ms' }),
      run.step('pack', { timeout: '500ms' }),
    ]
    for (const wait of waits) {
      await expect(clock.runUntil(wait)).rejects.toMatchObject({
        code: 'result_timeout',
        message: expect.stringContaining('No live worker can run workflow "order" version 2'),
      })
    }
    await clock.runUntil(web.close())
  })

  it('times out in time although the store does not say which workers live', async () => {
    const { clock, adapter, engine } = world()
    const silent = changed(adapter, { listWorkers: () => new Promise(() => {}) })
    const web = engine({ adapter: silent })
    const run = await web.run(order)
    const begunAt = clock.now()

    await expect(clock.runUntil(run.result({ timeout: '500ms' }))).rejects.toMatchObject({
      code: 'result_timeout',
      message: expect.not.stringContaining('No live worker'),
    })

    expect(clock.now() - begunAt).toBe(1_000)
    await clock.runUntil(web.close())
  })
})

describe('starting a run in development mode', () => {
  it('warns at once if no live worker can run it', async () => {
    const { clock, engine, warnings } = world()
    const web = engine({ workflows: [order], dev: true })

    await web.runMany(
      order,
      Array.from({ length: 10 }, () => ({})),
    )
    await clock.advance(0)

    expect(warnings).toEqual([expect.stringContaining('call start() on it')])
    await clock.runUntil(web.close())
  })

  it('is silent if a worker lives, and without development mode', async () => {
    const { clock, engine, warnings } = world()
    const worker = engine({ workflows: [order], dev: true })
    const plain = engine({ workflows: [asking] })
    await plain.run(asking)
    await worker.start()
    await engine({ workflows: [order], dev: true }).run(order)
    await worker.run(order)
    await clock.advance('5s')

    expect(warnings).toEqual([])
    await clock.runUntil(Promise.all([worker.close(), plain.close()]))
  })
})
