import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines, statuses } from './bench-of-engines.ts'

describe('invalid arguments of an operator’s action', () => {
  const workflow = define('strict', { version: 1 }).step('charge', { run: () => 1 })

  it.each([
    [
      'an unknown option',
      (run: never) => call(run, 'pause', { who: 'ann' }),
      /pause\(\) has no option "who"/,
    ],
    [
      'a name that is not a string',
      (run: never) => call(run, 'resume', { by: 7 }),
      /by must be a string of up to 200/,
    ],
    [
      'a reason that is too long',
      (run: never) => call(run, 'cancel', { reason: 'x'.repeat(2_001) }),
      /2001 characters/,
    ],
    [
      'half a compensation',
      (run: never) => call(run, 'cancel', { compensate: 'half' }),
      /compensate must be true or false/,
    ],
    [
      'a step that does not exist',
      (run: never) => call(run, 'skipStep', 'chargd'),
      /has no step "chargd"\. Did you mean "charge"\?/,
    ],
    [
      'an output that is not JSON',
      (run: never) => call(run, 'skipStep', 'charge', { output: 1n }),
      /Stand-in output of step "charge"/,
    ],
    [
      'a history without a limit',
      (run: never) => call(run, 'history', { limit: 0 }),
      /limit must be a whole number from 1/,
    ],
    ['no options at all', (run: never) => call(run, 'pause', null), /the options must be an object/],
  ])('%s is refused, and nothing changes', async (_, act, message) => {
    const { engine } = engines()
    const run = await engine().run(workflow, undefined)

    await expect(act(run as never)).rejects.toThrow(message)

    expect(statuses(await run.status())).toEqual({ charge: 'ready' })
    expect(await run.history()).toEqual([])
  })

  it('every action reports an unknown run as unknown', async () => {
    const { engine } = engines()
    const made = engine()
    const run = made.runs.handle('01920000-0000-7000-8000-000000000000')

    const actions = [
      run.pause(),
      run.resume(),
      run.cancel(),
      run.retry(),
      run.retryStep('a'),
      run.skipStep('a'),
      run.retryCompensation('a'),
      run.skipCompensation('a'),
      run.history(),
      run.explain(),
      made.migrateRun(run, workflow),
    ]

    for (const action of actions) await expect(action).rejects.toMatchObject({ code: 'unknown_run' })
  })

  it('a closed engine refuses every action', async () => {
    const { engine } = engines()
    const made = engine()
    const run = await made.run(workflow, undefined)
    await made.close()

    await expect(run.pause()).rejects.toMatchObject({ code: 'engine_closed' })
    await expect(run.cancel()).rejects.toMatchObject({ code: 'engine_closed' })
  })
})

async function call(
  run: Record<string, (...args: unknown[]) => Promise<unknown>>,
  method: string,
  ...args: unknown[]
) {
  return run[method]!(...args)
}
