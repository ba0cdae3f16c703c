import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEngine, type Engine, type RunSnapshot } from '@belay/workflow'
import { migrate, postgres } from '@belay/workflow-postgres'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { type TreeSpan, treeOf } from './setup/tree.ts'

const WORKER = fileURLToPath(new URL('processes/worker.mjs', import.meta.url))

describe('the trace of a run whose workers are killed', () => {
  it('is one tree: the lost attempts are there as lost, with what they had done, and the undo beneath its run', async () => {
    const { engine, worker, trace } = await processes()
    const killed = await worker('pack')
    const { id } = await engine.run('order', undefined)
    await until(engine, id, ({ steps }) => steps.find(({ name }) => name === 'pack')?.status === 'running')
    await killed.exported('POST /pack')
    await killed.kill()
    const killedInUndo = await worker('refund')
    await killedInUndo.exported('POST /refund')
    await killedInUndo.kill()
    const last = await worker()
    await until(engine, id, ({ status }) => status === 'compensated')
    await last.stop()

    expect(treeOf(trace(id))).toEqual([
      'order failed: permanent',
      '  reserve 1',
      '    POST /reserve',
      '  charge 1',
      '    POST /charge',
      '  pack 1 lost failed: lease_lost',
      '    POST /pack',
      '  pack 2 failed: permanent → retry_of pack',
      '    POST /pack',
      '  undo',
      '    undo charge 1 lost failed: lease_lost',
      '      POST /refund',
      '    undo charge 2 → retry_of undo charge',
      '      POST /refund',
      '    undo reserve 1',
      '      POST /release',
    ])
  })

  it('is one tree with a map of 50 and a child, whose own trace is whole too', async () => {
    const { engine, worker, trace } = await processes()
    const killed = await worker('resize')
    const { id } = await engine.run('album', undefined)
    await until(engine, id, ({ maps }) => maps['resize']?.statuses.completed === 49)
    await killed.kill()
    const last = await worker()
    await until(engine, id, ({ status }) => status === 'compensated')
    await last.stop()

    const lines = treeOf(trace(id)).map((line) => line.trim())
    const counts = new Map<string, number>()
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({
      'album failed: permanent': 1,
      resize: 1,
      'resize[] 1': 49,
      'resize[] 1 lost failed: lease_lost': 1,
      'resize[] 2 → retry_of resize[]': 1,
      'run payment → child elsewhere': 1,
      'ship 1 failed: permanent': 1,
      'POST /ship': 1,
      undo: 1,
      'undo payment → child elsewhere': 1,
      'undo resize[] 1': 50,
    })
    const [child] = await engine.runs.list({ parentId: id })
    expect(treeOf(trace(child!.id))[0]).toBe('payment → parent elsewhere')
  })
})

interface WorkerProcess {
  /** Resolves once it has exported a span of this name. */
  exported(name: string): Promise<void>
  kill(): Promise<void>
  /** Lets it end as a deployment does. */
  stop(): Promise<void>
}

/** A store of its own, and workers on it that write their spans into one file. */
async function processes(): Promise<{
  readonly engine: Engine
  worker(hangs?: string): Promise<WorkerProcess>
  /** What all of them have exported of one run. */
  trace(runId: string): readonly TreeSpan[]
}> {
  const [url, schema] = [inject('serverUrl'), `otel_${randomBytes(5).toString('hex')}`]
  await migrate(url, { schema })
  const folder = mkdtempSync(join(tmpdir(), 'belay-spans-'))
  const file = join(folder, 'spans')
  const engine = createEngine({ adapter: postgres(url, { schema, autoMigrate: false }), logger: false })
  onTestFinished(async () => {
    await engine.close()
    rmSync(folder, { recursive: true })
  })
  const spans = (): readonly TreeSpan[] =>
    readFileSync(file, { encoding: 'utf8', flag: 'a+' })
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line) as TreeSpan]))
  return {
    engine,
    trace: (runId) => spans().filter(({ traceId }) => traceId === runId.replaceAll('-', '')),
    async worker(hangs = '') {
      const before = (await engine.workers.list()).length
      const child = spawn(process.execPath, [WORKER], {
        env: { ...process.env, DATABASE_URL: url, SCHEMA: schema, SPANS: file, HANGS: hangs },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      await vi.waitUntil(async () => (await engine.workers.list()).length > before, WAIT)
      const ends = async (signal: 'SIGKILL' | 'SIGTERM') => {
        const ended = once(child, 'exit')
        child.kill(signal)
        await ended
      }
      return {
        exported: (name) =>
          vi.waitUntil(() => spans().some((span) => span.name === name), WAIT).then(() => {}),
        kill: () => ends('SIGKILL'),
        stop: () => ends('SIGTERM'),
      }
    },
  }
}

const WAIT = { timeout: 60_000, interval: 50 }

async function until(engine: Engine, id: string, holds: (run: RunSnapshot) => boolean): Promise<void> {
  await vi.waitUntil(async () => holds((await engine.runs.get(id))!), WAIT)
}
