import { define, type Explanation, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate } from './bench-of-engines.ts'

const never = { attempts: 1 } as const

/** Reasons and sentences by step. */
function told({ steps }: Explanation): Record<string, string> {
  return Object.fromEntries(steps.map(({ step, reason, sentence }) => [step, `${reason}: ${sentence}`]))
}

describe('explaining a run', () => {
  it('names what each open step waits for', async () => {
    const { clock, worker } = engines()
    const held = gate()
    const workflow = define('explained', { version: 1 })
      .step('fetch', { run: () => held.passed })
      .step('flaky', {
        retry: { attempts: 3, initial: '1h', max: '1h', jitter: false },
        run: () => Promise.reject(new Error('no')),
      })
      .step('join', { dependsOn: ['fetch', 'flaky'], run: () => 1 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')

    const explanation = await engine.explain(run)

    expect(explanation).toMatchObject({ runId: run.id, workflow: 'explained', version: 1, status: 'running' })
    expect(explanation.sentence).toMatch(/is going forward: of its 3 open steps, 1 is running/)
    expect(told(explanation)).toEqual({
      fetch: expect.stringMatching(/^running: "fetch" has been running on worker \S+ since 2025/),
      flaky: expect.stringMatching(
        /^retry: "flaky" failed once \(Error: no\) and is tried again at 2025-01-01T01:00/,
      ),
      join: 'dependency: "join" waits for "fetch" (running) and "flaky" (ready).',
    })
    expect(explanation.steps[1]!.until?.getTime()).toBeGreaterThan(clock.now())
    held.open()
  })

  it('says that no worker is live, and that a paused run waits to be resumed', async () => {
    const { engine } = engines()
    const workflow = define('alone', { version: 1 }).step('a', { run: () => 1 })
    const made = engine()
    const run = await made.run(workflow, undefined)

    expect(told(await run.explain())).toEqual({ a: 'worker: "a" is due, but no worker is live: start one.' })
    await run.pause()

    const paused = await made.explain(run.id)
    expect(told(paused)).toEqual({ a: 'paused: "a" does not begin until the run is resumed.' })
    expect(paused.sentence).toMatch(/was paused by an operator/)
  })

  it('says what an undo waits for, and what an operator has to do', async () => {
    const { clock, worker } = engines()
    const workflow = define('undoing', { version: 1 })
      .step('a', { run: () => 1, compensate: () => {} })
      .step('b', {
        dependsOn: ['a'],
        run: () => 1,
        compensate: () => {
          throw new PermanentError('never')
        },
      })
      .step('no', { dependsOn: ['b'], retry: never, run: () => Promise.reject(new Error('no')) })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result().catch(() => {}))

    const explanation = await engine.explain(run)

    expect(explanation.sentence).toMatch(
      /^Run \S+ is parked, because "no" failed \(Error: no\): 1 undo failed for good/,
    )
    expect(told(explanation)).toEqual({
      a: 'operator: "a" is undone after "b", whose undo failed for good and waits for an operator.',
      b: expect.stringMatching(
        /^operator: The undo of "b" failed for good \(PermanentError: never\): retry it once the cause is repaired/,
      ),
    })
  })

  it('does not call a step open that failed and past which the run continues', async () => {
    const { clock, worker } = engines()
    const held = gate()
    const workflow = define('going-on', { version: 1 })
      .step('charge', { retry: never, onFailure: 'continue', run: () => Promise.reject(new Error('no')) })
      .step('ship', { run: () => held.passed })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.advance('1s')

    const { steps, sentence, continued } = await run.explain()
    expect(steps.map(({ step }) => step)).toEqual(['ship'])
    expect(sentence).toContain('of its 1 open step, 1 is running')
    expect(continued.map(({ step }) => step)).toEqual(['charge'])
    held.open()
  })

  it('says nothing about the steps of an ended run', async () => {
    const { clock, worker } = engines()
    const workflow = define('over', { version: 1 }).step('a', { run: () => 1 })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)
    await clock.runUntil(run.result())

    expect(await run.explain()).toMatchObject({ status: 'completed', steps: [] })
  })
})
