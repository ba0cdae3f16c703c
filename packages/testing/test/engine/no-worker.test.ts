import { define, type Explanation, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, gate, StoppableClock } from './bench-of-engines.ts'

const NONE = ' No worker is live: start one.'

const broken = () => {
  throw new Error('broken')
}
const waits = define('waits', { version: 1 })
  .step('retries', { run: broken, retry: { retries: 3, initial: '1h', max: '1h' } })
  .sleep('sleeps', { for: '1h' })
const undone = define('undone', { version: 1 })
  .step('pay', { run: () => 1, compensate: { run: broken, retry: { retries: 3, initial: '1h', max: '1h' } } })
  .step('ship', {
    dependsOn: ['pay'],
    run: () => {
      throw new PermanentError('no courier')
    },
  })
const other = define('other', { version: 1 }).step('a', { run: () => 1 })

const sentences = ({ steps }: Explanation) =>
  Object.fromEntries(steps.map(({ step, sentence }) => [step, sentence]))

describe('while no worker is live', () => {
  it('an explanation promises no sweep and no other worker to a step whose worker is gone', async () => {
    const { clock, worker, engine } = engines()
    const held = gate()
    const slow = define('slow', { version: 1 }).step('a', { run: () => held.passed })
    const stopped = new StoppableClock(clock)
    const hanging = await worker({ workflows: [slow], clock: stopped })
    const run = await hanging.run(slow)
    await clock.advance('1s')
    stopped.stop()
    await clock.advance('1h')

    const alone = await engine().explain(run.id)

    expect(alone.sentence).toBe(`Run ${run.id} is going forward: of its 1 open step, 1 is running.${NONE}`)
    expect(alone.steps[0]!.sentence).toMatch(
      /^"a" was started by worker \S+, which has stopped renewing its lease\. No worker is live: start one\.$/,
    )
    held.open()
  })

  it('an explanation tells no time at which a step begins without saying that it takes a worker', async () => {
    const { clock, worker, engine } = engines()
    const first = await worker({ workflows: [waits, undone] })
    const runs = await Promise.all([first.run(waits), first.run(undone)])
    const later = await first.run(other, undefined, { delay: '1d' })
    await clock.advance('10s')
    const before = await Promise.all([...runs, later].map(({ id }) => engine().explain(id)))
    await clock.runUntil(first.stop())

    const [forward, undo, scheduled] = await Promise.all(
      [...runs, later].map(({ id }) => engine().explain(id)),
    )

    expect(JSON.stringify(before.slice(0, 2))).not.toContain('No worker is live')
    expect(sentences(forward!)).toEqual({
      retries: expect.stringMatching(
        / failed once .* is tried again at \S+\. No worker is live: start one\.$/,
      ),
      sleeps: expect.stringMatching(/ waits until \S+\. No worker is live: start one\.$/),
    })
    expect(sentences(undo!)).toEqual({
      pay: expect.stringMatching(/ is tried again at .* No worker is live: start one\.$/),
    })
    expect(sentences(scheduled!)).toEqual({
      a: expect.stringMatching(/ begins when the run starts, .* No worker is live: start one\.$/),
    })
    for (const { sentence } of [forward!, undo!, scheduled!])
      expect(sentence).toMatch(/\. No worker is live: start one\.$/)
  })

  it('the doctor says to start one, and offers nothing that would undo healthy runs', async () => {
    const { clock, worker, engine } = engines()
    const client = engine()
    await client.run(waits)
    await clock.advance('10m')

    const alone = (await client.doctor()).findings
    await worker({ workflows: [other] })
    const beside = (await client.doctor()).findings

    expect(alone).toMatchObject([
      {
        type: 'version_without_worker',
        message: expect.stringMatching(
          /^No worker is live: 1 run of workflow "waits" version 1 cannot go on, /,
        ),
        remedy:
          'Start a worker whose `workflows` include version 1 of "waits" with its handlers. They wait until then.',
        actions: [],
      },
    ])
    expect(beside[0]).toMatchObject({
      message: expect.stringMatching(/^No live worker has handlers for workflow "waits" version 1: /),
      actions: [{ verb: 'migrateRun' }, { verb: 'cancel' }],
    })
  })

  it('a schedule is not said to fire by itself', async () => {
    const { worker, engine, clock } = engines()
    const client = engine()
    await client.schedules.put('hourly', { every: '1h', workflow: other })

    const alone = (await client.schedules.explain('hourly')).summary
    await worker({ workflows: [waits] })
    await clock.advance('1s')

    expect(alone).toMatch(/^It fires next at \S+\. No worker is live: start one\.$/)
    expect((await client.schedules.explain('hourly')).summary).toMatch(/^It fires next at \S+Z\.$/)
  })
})
