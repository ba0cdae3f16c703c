import { define } from '@belay/workflow'
import { expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

/** A parent and its child, whose runs are under one limit. */
function sharing(concurrency: number) {
  const limit = { name: 'shared', limit: concurrency }
  const child = define('child', { version: 1, concurrency: limit }).step('work', { run: () => 'done' })
  const parent = define('parent', { version: 1, concurrency: limit }).workflow('pay', child, {})
  return parent
}

it('doctor() and explain() name a child that waits for a slot of its own parent, and what to do', async () => {
  const { clock, worker } = engines()
  const parent = sharing(1)
  const engine = await worker({ workflows: [parent] })
  const run = await engine.run(parent)
  await clock.advance('10s')
  const [child] = await engine.runs.list({ parentId: run.id })

  const { healthy, findings } = await engine.doctor()
  const { steps } = await engine.runs.handle(child!.id).explain()

  expect(healthy).toBe(false)
  expect(findings).toEqual([
    {
      ...{ type: 'limit_circle', limit: 'shared', runId: child!.id, holderId: run.id },
      message: `Run ${child!.id} waits for a slot of limit "shared", which run ${run.id} holds: its parent, or one above it, which waits until this run has ended.`,
      remedy: expect.stringContaining('Raise limit "shared" for now'),
      actions: [{ verb: 'limits.set' }],
    },
  ])
  expect(steps[0]?.sentence).toContain(
    `Run ${run.id}, its parent or one above it, holds a slot of this limit`,
  )

  // The remedy helps.
  await engine.limits.set('shared', 2)
  expect(await clock.runUntil(run.result())).toEqual({ pay: { work: 'done' } })
})

it('a child that waits for the slot of a stranger is no circle', async () => {
  const { clock, worker } = engines()
  const limit = { name: 'shared', limit: 2 }
  const stranger = define('stranger', { version: 1, concurrency: limit }).waitForSignal('go')
  const parent = sharing(2)
  const engine = await worker({ workflows: [parent, stranger] })
  const other = await engine.run(stranger)
  await clock.advance('2s')
  const run = await engine.run(parent)
  await clock.advance('5s')

  expect((await engine.doctor()).findings).toEqual([])

  await engine.signal(other, 'go', 1)
  expect(await clock.runUntil(run.result())).toEqual({ pay: { work: 'done' } })
})
