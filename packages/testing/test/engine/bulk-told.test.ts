import { type BulkProgress, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

const workflow = define('bulk', { version: 1 }).step('a', { run: () => 1 })

async function started(count: number) {
  const made = engines()
  const engine = made.engine()
  const runs = await engine.runMany(
    workflow,
    Array.from({ length: count }, (_, n) => ({ input: n, key: `k${n}` })),
  )
  return { ...made, engine, runs }
}

describe('what an action on many runs tells', () => {
  it('refusals have a code, and are grouped by reason, whatever the ids', async () => {
    const { engine, runs } = await started(4)
    await runs[0]!.cancel({ compensate: false })
    await engine.runs.pauseMany(runs.slice(1, 2))

    const { refused, refusals } = await engine.runs.retryMany(runs)

    expect(refused).toHaveLength(4)
    expect(refused.every(({ code }) => code === 'action_refused')).toBe(true)
    expect(refusals.map(({ why, code, runIds }) => [why, code, runIds.length])).toEqual([
      [expect.stringMatching(/^Run … cannot be retried: it is running\./), 'action_refused', 2],
      [expect.stringMatching(/^Run … cannot be retried: it is being undone/), 'action_refused', 1],
      [expect.stringMatching(/^Run … cannot be retried: it is paused/), 'action_refused', 1],
    ])
  })

  it('progress after each run', async () => {
    const { engine, runs } = await started(3)
    await runs[1]!.pause()
    const told: BulkProgress[] = []

    await engine.runs.pauseMany(runs, { onProgress: (progress) => void told.push(progress) })

    expect(told).toEqual([
      { matched: 1, changed: 1, refused: 0 },
      { matched: 2, changed: 1, refused: 0 },
      { matched: 3, changed: 2, refused: 0 },
    ])
  })

  it('ends early when its signal fires, and says that there are more', async () => {
    const { engine, runs } = await started(5)
    const abort = new AbortController()
    const onProgress = ({ changed }: BulkProgress) => {
      if (changed === 2) abort.abort()
    }

    const paused = await engine.runs.pauseMany(runs, { signal: abort.signal, onProgress })
    const cancelled = await engine.runs.cancelMany({ all: true }, { signal: AbortSignal.abort() })

    expect(paused).toMatchObject({ matched: 2, changed: 2, more: true })
    expect(cancelled).toMatchObject({ more: true })
    expect((await runs[2]!.status()).status).toBe('running')
  })

  it('a list of ids changes exactly these runs', async () => {
    const { engine, runs } = await started(5)
    const shown = await engine.runs.pauseMany({ workflow: 'bulk' }, { dryRun: true, limit: 2 })

    const paused = await engine.runs.pauseMany(shown.runIds)

    expect(paused.runIds).toEqual(shown.runIds)
    expect(await engine.runs.count({ status: 'paused' })).toEqual({ count: 2, capped: false })
    expect((await runs[0]!.status()).status).toBe('running')
  })
})
