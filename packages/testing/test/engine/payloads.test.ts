import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

describe('outputs that cannot be stored', () => {
  it.each([
    ['a bigint', () => 1n, 'payload_unserialisable', /Output of step "bad".*cannot be stored as JSON/],
    [
      'a cycle',
      () => {
        const o: Record<string, unknown> = {}
        o['o'] = o
        return o
      },
      'payload_unserialisable',
      /cannot be stored/,
    ],
    ['a function', () => () => 1, 'payload_unserialisable', /it is a function, of which JSON keeps nothing/],
    [
      '2 MiB',
      () => 'x'.repeat(2 * 1024 * 1024),
      'payload_too_large',
      /is 2097154 bytes as JSON; the limit is 1048576/,
    ],
  ])('%s fails the step at once, and the error says why', async (_, make, code, message) => {
    const { clock, worker } = engines()
    let calls = 0
    const workflow = define('bad', { version: 1 }).step('bad', {
      run: (): unknown => {
        calls += 1
        return make()
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow, undefined)

    await clock.runUntil(run.result().catch(() => {}))

    const { cause, status } = await run.status()
    expect(calls).toBe(1)
    expect(status).toBe('failed')
    expect(cause).toMatchObject({
      type: 'step_failed',
      error: { code, message: expect.stringMatching(message) },
    })
  })

  it('an input that is too large is refused before anything is written', async () => {
    const { engine } = engines()
    const workflow = define('input', { version: 1 }).step('a', { run: () => 1 })
    const made = engine({ workflows: [workflow], payloadMaxBytes: 10 })

    await expect(made.run(workflow, 'x'.repeat(20))).rejects.toMatchObject({ code: 'payload_too_large' })

    expect(await made.runs.list()).toEqual([])
  })
})
