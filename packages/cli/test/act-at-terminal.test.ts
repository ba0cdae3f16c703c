import { define, PermanentError } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { terminal } from './setup/pty.ts'
import { type TestStore, testStore } from './setup/store.ts'

const RETRY = ['retry', '--workflow', 'call', '--reason', 'the network is up', '--by', 'ops']

/** Runs that failed, which nobody works on any more. */
async function failedCalls(count: number): Promise<TestStore> {
  const call = define('call', { version: 1 }).step('ask', {
    run: () => Promise.reject(new PermanentError('no network')),
  })
  const store = await testStore()
  const worker = store.engine({ workflows: [call] })
  await worker.start()
  const runs = await worker.runMany(
    call,
    Array.from({ length: count }, (_, index) => ({ key: `call:${index + 1}` })),
  )
  await Promise.allSettled(runs.map((run) => run.result()))
  await worker.stop()
  return store
}

describe('many runs at a terminal', () => {
  it('are changed once their number was typed, with a bar that stays full', async () => {
    const { env } = await failedCalls(3)

    const shell = terminal([...RETRY, '--ascii'], { env })
    await shell.sees('as ops:')
    shell.type('3\r')

    expect(await shell.exit).toBe(0)
    expect(shell.screen()).toBe(
      [
        'Dry run: 3 ended as failed or compensated',
        '  3  would be retried: call:3, call:2, call:1',
        'Type 3 to retry them, as ops: 3',
        '  ####################  3 of 3',
        '3 retried, 0 refused.',
        'Follow: belay watch --all',
      ].join('\n'),
    )
    expect(shell.showsCursor()).toBe(true)
  })

  it('are left alone on Ctrl-C at the question', async () => {
    const { env, engine } = await failedCalls(2)

    const shell = terminal(RETRY, { env })
    await shell.sees('as ops:')
    shell.type('\u0003')

    expect(await shell.exit).toBe(1)
    expect(shell.screen()).toMatch(/as ops: \^C\nNothing was done\.$/)
    expect(await engine().runs.count({ status: 'failed' })).toMatchObject({ count: 2 })
  })

  it('are changed one by one until Ctrl-C, and the rest stays as it was', async () => {
    const { env, engine } = await failedCalls(400)

    const shell = terminal(RETRY, { env })
    await shell.sees('as ops:')
    shell.type('400\r')
    await shell.sees(/\d of 400/)
    shell.type('\u0003')

    expect(await shell.exit).toBe(1)
    const [, retried, left] = /(\d+) retried, 0 refused\. Stopped: (\d+) are as before\./.exec(
      shell.screen(),
    )!
    expect(Number(retried) + Number(left)).toBe(400)
    expect(await engine().runs.count({ status: 'failed' })).toMatchObject({ count: Number(left) })
  })

  it('are told apart when one of them changes before the number is typed', async () => {
    const { env, engine } = await failedCalls(2)
    const operator = engine()

    const shell = terminal(RETRY, { env })
    await shell.sees('as ops:')
    await operator.retry({ workflow: 'call', key: 'call:1' })
    shell.type('2\r')

    expect(await shell.exit).toBe(1)
    expect(shell.screen()).toMatch(
      /\n {2}1 {2}cannot be retried: it is running\.(.|\n)*\n1 retried, 1 refused\.\nFollow: belay watch --all$/,
    )
  })
})
