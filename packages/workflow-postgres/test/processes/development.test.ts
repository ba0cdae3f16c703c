import { createEngine, type Logger } from '@belay/workflow'
import { describe, expect, it, type TestContext } from 'vitest'
import { postgres } from '../../src/index.ts'
import { createDatabase, servers } from '../setup/database.ts'
import { type Line, WorkerProcess } from './child.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Longer than the lease of development and the look for dead workers, and much shorter than the lease of production. */
const TAKEN_OVER_MS = 15_000

/** An empty database: nobody migrates it but the workers themselves. */
async function given({ onTestFinished }: TestContext) {
  const database = await createDatabase(servers[0]!.url)
  const engine = createEngine({ adapter: postgres(database.url), dev: true, logger: silent })
  onTestFinished(async () => {
    await engine.close()
    await database.drop()
  })
  const worker = (env: Readonly<Record<string, string>>) => {
    const started = new WorkerProcess({ DATABASE_URL: database.url, ...env }, 'dev-worker.mjs')
    onTestFinished(() => started.kill())
    return started
  }
  return { engine, worker }
}

function startedBy(lines: readonly Line[]): string {
  return lines.find(({ event }) => event === 'run')!.id!
}

describe('a worker in development that is killed in the middle of a step', () => {
  it('is followed by one with changed code: new runs go through, and the old one is named and can be dropped', async (context) => {
    const { engine, worker } = await given(context)
    const killed = worker({ SHAPE: 'before', HANGS: 'yes' })
    await killed.says('pack is called', (lines) => lines.some(({ call }) => call === 'pack'))
    await killed.says('its run is known', (lines) => lines.some(({ event }) => event === 'run'))
    const old = startedBy(killed.lines)
    await killed.kill()
    const killedAt = Date.now()
    const early = await engine.runs.dropForgotten({ workflow: 'order' })
    const changed = worker({ SHAPE: 'after' })
    await changed.saysEvent('run.completed')
    await changed.says('the step is taken back', (lines) =>
      lines.some(({ event, id }) => event === 'step.recovered' && id === old),
    )
    const tookMs = Date.now() - killedAt

    const { findings } = await engine.doctor()
    const dropped = await engine.runs.dropForgotten({ workflow: 'order' })

    const fresh = (await engine.runs.get(startedBy(changed.lines)))!
    expect(early.runIds).toEqual([])
    expect(tookMs).toBeLessThan(TAKEN_OVER_MS)
    expect(fresh).toMatchObject({ status: 'completed', workflow: 'order' })
    expect(fresh.version).toBeGreaterThanOrEqual(1_000_000_000)
    expect(findings).toMatchObject([
      { type: 'version_without_worker', workflow: 'order', version: 1, runIds: [old] },
    ])
    expect(dropped.runIds).toEqual([old])
    expect(await engine.runs.get(old)).toMatchObject({ status: 'cancelled', version: 1 })
    expect((await engine.doctor()).healthy).toBe(true)
  })

  it('is followed by one with the same shape, which takes its step over when the short lease has ended', async (context) => {
    const { engine, worker } = await given(context)
    const killed = worker({ SHAPE: 'before', HANGS: 'yes' })
    await killed.says('pack is called', (lines) => lines.some(({ call }) => call === 'pack'))
    await killed.says('its run is known', (lines) => lines.some(({ event }) => event === 'run'))
    const old = startedBy(killed.lines)
    await killed.kill()
    const killedAt = Date.now()

    worker({ SHAPE: 'before' })
    const outputs = await engine.runs.handle(old).result()

    expect(outputs).toEqual({ pack: 'packed' })
    expect(Date.now() - killedAt).toBeLessThan(TAKEN_OVER_MS)
  })
})
