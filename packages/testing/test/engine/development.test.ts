import { createEngine, define, type Logger } from '@belay/workflow'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/index.ts'
import { engines } from './bench-of-engines.ts'

const before = define('order', { version: 1 }).step('pack', { run: () => 'packed' })
const after = define('order', { version: 1 })
  .step('pack', { run: () => 'packed' })
  .step('ship', { dependsOn: ['pack'], run: () => 'shipped' })

/** A logger that keeps what it is told. */
function kept(): Logger & { readonly lines: string[]; readonly errors: unknown[] } {
  const lines: string[] = []
  const errors: unknown[] = []
  const write = (message: string, { error }: { readonly error?: unknown } = {}) => {
    lines.push(message)
    if (error !== undefined) errors.push(error)
  }
  return { lines, errors, debug: write, info: write, warn: write, error: write }
}

const dev = { dev: true, logger: kept() }

afterEach(() => vi.unstubAllEnvs())

describe('a changed shape in development mode', () => {
  it('gets a version of its own, and runs of the old shape keep theirs', async () => {
    const { clock, worker } = engines()
    const logger = kept()
    const first = await worker({ workflows: [before], ...dev })
    const old = await first.run(before)
    await clock.runUntil(old.result())
    await clock.runUntil(first.stop())
    const second = await worker({ workflows: [after], ...dev, logger })

    const run = await second.run(after)

    expect(await clock.runUntil(run.result())).toEqual({ pack: 'packed', ship: 'shipped' })
    expect(old.version).toBe(1)
    expect(run.version).toBeGreaterThanOrEqual(1_000_000_000)
    expect(run.version).toBeLessThan(2_000_000_000)
    expect((await run.status()).version).toBe(run.version)
    const [told] = logger.lines.filter((line) => line.includes('another shape'))
    expect(told).toContain(`version ${run.version}`)
    expect(told).toContain('+ step ship (depends on pack)')
  })

  it('has the same version in every process and after every restart, and the first shape has its own again', async () => {
    const { clock, worker, engine } = engines()
    await worker({ workflows: [before], ...dev })
    const versions: number[] = []
    for (const workflow of [after, before, after]) {
      const developer = engine(dev)
      versions.push((await developer.run(workflow)).version!)
    }
    await worker({ workflows: [after], ...dev })
    await clock.advance('1s')

    expect(versions).toEqual([versions[0], 1, versions[0]])
  })

  it('is refused without development mode, by an error that names it', async () => {
    const { engine } = engines()
    await engine().run(before)

    const refused = await engine()
      .run(after)
      .catch((error) => error)

    expect(refused).toMatchObject({ code: 'definition_changed' })
    expect(refused.message).toContain('createEngine({ dev: true })')
    expect(refused.message).toContain('+ step ship')
  })

  it('passes over a number that a workflow has taken', async () => {
    const { engine } = engines()
    const taken = await engine(dev).run(before)
    const derived = (await engine(dev).run(after)).version!
    const others = engines()
    await others.engine().run(define('order', { version: derived }).step('other', { run: () => 1 }))
    await others.engine().run(before)

    const run = await others.engine(dev).run(after)

    expect(taken.version).toBe(1)
    expect(run.version).toBe(derived + 1)
  })

  it('is found by the name of the workflow, as the newest live worker has it', async () => {
    const { clock, worker, engine } = engines()
    const shapes = [after, ...['a', 'b', 'c', 'd'].map(variant)]
    await worker({ workflows: [before], ...dev })
    const started: [number, number][] = []
    for (const workflow of shapes) {
      await clock.advance('1s')
      const current = await worker({ workflows: [workflow], ...dev })
      const wanted = (await current.run(workflow)).version!
      started.push([(await engine().run('order')).version!, wanted])
    }

    for (const [found, wanted] of started) expect(found).toBe(wanted)
    expect(new Set(started.map(([found]) => found)).size).toBe(shapes.length)
  })

  it('takes signals, also in a process that has not started its runs', async () => {
    const { clock, worker, engine } = engines()
    const asking = before.waitForSignal('paid', { dependsOn: ['pack'] })
    await worker({ workflows: [before], ...dev })
    await worker({ workflows: [asking], ...dev })
    const run = await engine(dev).run(asking)
    await clock.advance('1s')

    await engine({ workflows: [asking], ...dev })
      .runs.handle(run.id)
      .signal('paid', 12)

    expect(await clock.runUntil(run.result())).toMatchObject({ paid: 12 })
  })
})

function variant(step: string) {
  return define('order', { version: 1 }).step(step, { run: () => step })
}

describe('development mode', () => {
  it('has a short lease unless one is given', async () => {
    const { adapter, worker } = engines()
    await worker({ workflows: [before], ...dev, name: 'short' })
    await worker({ workflows: [before], ...dev, name: 'given', lease: '1m' })
    await worker({ workflows: [before], name: 'normal' })

    const leases = (await adapter.listWorkers()).map(({ name, leaseExpiresAt, renewedAt }) => [
      name,
      (leaseExpiresAt ?? 0) - (renewedAt ?? 0),
    ])

    expect(Object.fromEntries(leases)).toEqual({ short: 5_000, given: 60_000, normal: 30_000 })
  })

  it('is never on by itself: only a log of an engine whose NODE_ENV is development says that it exists', async () => {
    const { worker } = engines()
    const [silent, told, on] = [kept(), kept(), kept()]
    await worker({ workflows: [before], logger: silent })
    vi.stubEnv('NODE_ENV', 'development')
    const workers = await worker({ workflows: [before], logger: told })
    await worker({ workflows: [before], dev: true, logger: on })

    const refused = await workers.run(after).catch((error) => error)

    expect(refused).toMatchObject({ code: 'definition_changed' })
    expect(silent.lines.join()).not.toContain('evelopment')
    expect(told.lines.join()).toContain('development mode is off')
    expect(on.lines.join()).toContain('Development mode is on')
  })

  it('is refused in production', () => {
    vi.stubEnv('NODE_ENV', 'production')

    expect(() => createEngine({ adapter: memory(), dev: true })).toThrow(/dev is true, but NODE_ENV is/)
    expect(() => createEngine({ adapter: memory(), dev: false })).not.toThrow()
  })

  it.each(['true', 'false', 1, 0, null, {}, 'development', Number.NaN])('refuses dev: %j', (dev) => {
    expect(() => createEngine({ adapter: memory(), dev: dev as boolean })).toThrow(
      /dev must be true or false; got/,
    )
  })

  it('writes to the console when no logger is given, with the error as an argument of its own', async () => {
    const { clock, adapter } = engines()
    const written = vi.spyOn(console, 'error').mockImplementation(() => {})
    vi.spyOn(console, 'info').mockImplementation(() => {})
    const storm = new Error('storm')
    const trip = define('trip', { version: 1 }).step('fly', {
      retry: false,
      run: () => Promise.reject(storm),
    })
    const engine = createEngine({ adapter, workflows: [trip], dev: true })
    await engine.start()
    const run = await engine.run(trip)
    await clock.runUntil(run.result().catch(() => {}))
    await clock.runUntil(engine.close())

    expect(written.mock.calls).toEqual([
      [
        '[belay] A step failed for good. Its run stops, and is undone.',
        expect.objectContaining({ runId: run.id, workflow: 'trip', version: 1, step: 'fly', attempt: 1 }),
        storm,
      ],
    ])
    vi.restoreAllMocks()
  })
})
