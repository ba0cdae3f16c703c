import { define } from '@belay/workflow'
import { engines } from './bench-of-engines.ts'

export const workflow = define('keyed', { version: 1 }).step('a', { run: ({ input }) => input })
export const other = define('other', { version: 1 }).step('a', { run: () => 1 })
export const failing = define('failing', { version: 1 }).step('a', {
  retry: false,
  run: () => Promise.reject(new Error('no')),
})

/** A worker, and runs that have ended on it. */
export async function endedRuns() {
  const bench = engines()
  const { clock } = bench
  // Days pass here, so the loops that no test looks at run rarely.
  const worker: typeof bench.worker = (options) => bench.worker({ tick: '1m', lease: '1d', ...options })
  const engine = await worker({ workflows: [workflow, other, failing] })
  const ended = async (count: number, of: typeof workflow | typeof other | typeof failing = workflow) => {
    const runs = []
    for (let n = 0; n < count; n += 1) runs.push(await engine.run(of as typeof other))
    for (const run of runs) await clock.runUntil(run.result().catch(() => {}))
    return runs.map(({ id }) => id)
  }
  const left = async () => (await engine.runs.list({ limit: 1_000 })).map(({ id }) => id).reverse()
  return { ...bench, worker, engine, ended, left }
}
