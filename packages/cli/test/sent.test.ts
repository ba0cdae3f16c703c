import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { configFolder } from './setup/config.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 }).waitForSignal('shipped').approval('approveOrder')

/** The same in a config, with a schema: a payload has a tracking number. */
const CONFIG = `[
  define('fulfil-order', { version: 3 })
    .waitForSignal('shipped', { schema: { '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => value?.tracking ? { value } : { issues: [{ message: 'tracking is missing' }] },
    } } })
    .approval('approveOrder'),
]`

/** A run that waits for a signal and for a decision, at once. */
async function waitingOrder() {
  const store = await testStore()
  const engine = store.engine({ workflows: [order] })
  await engine.start()
  const run = await engine.run(order, undefined, { key: 'order:1' })
  await expect.poll(async () => (await engine.runs.get(run.id))?.status).toBe('waiting')
  return { ...store, engine, run }
}

describe('belay signal', () => {
  it('sends a payload that the definition of the config accepts, once for each key', async () => {
    const { env, engine, run } = await waitingOrder()
    const cwd = await configFolder(CONFIG)
    const argv = ['signal', 'order:1', 'shipped', '--data', '{"tracking":"T1"}', '--key', 'wh-1']

    const sent = await belay(argv, { env, cwd, columns: 80 })
    const again = await belay([...argv, '--json'], { env, cwd })
    const other = await belay(
      ['signal', 'order:1', 'shipped', '--data', '{"tracking":"T2"}', '--key', 'wh-2'],
      { env, cwd, columns: 80 },
    )

    expect(sent).toEqual({ stdout: 'delivered: "shipped" goes on\n', stderr: '', status: 0 })
    expect(JSON.parse(again.stdout)).toEqual({
      runId: run.id,
      step: 'shipped',
      key: 'wh-1',
      result: 'duplicate',
      reason: null,
      checked: true,
    })
    expect(again.status).toBe(0)
    expect(other.stdout).toMatch(
      /^ignored: the step has (another signal already|ended), and nothing was recorded\n$/,
    )
    expect(other.status).toBe(1)
    await expect
      .poll(async () => (await engine.runs.get(run.id))?.steps.find(({ name }) => name === 'shipped')?.output)
      .toEqual({ tracking: 'T1' })
  })

  it('sends nothing that the definition of the config refuses', async () => {
    const { env, engine, run } = await waitingOrder()
    const cwd = await configFolder(CONFIG)

    const { stdout, stderr, status } = await belay(['signal', 'order:1', 'shipped', '--data', '{}'], {
      env,
      cwd,
    })

    expect(stdout).toBe('')
    expect(stderr).toContain('tracking is missing')
    expect(status).toBe(2)
    expect(await engine.runs.history(run.id)).toEqual([])
  })

  it('sends nothing that nobody checks, unless --unchecked says so', async () => {
    const { env } = await waitingOrder()
    const argv = ['signal', 'order:1', 'shipped', '--data', '{}']

    const refused = await belay(argv, { env })
    const sent = await belay([...argv, '--unchecked', '--json'], { env })

    expect(refused.stderr).toBe(
      'No config has fulfil-order v3, so nobody checks this payload. --unchecked sends it all the same.\n',
    )
    expect(refused.status).toBe(2)
    expect(JSON.parse(sent.stdout)).toMatchObject({ result: 'delivered', checked: false })
  })

  it('names the step that waits, and what is no JSON', async () => {
    const { env } = await waitingOrder()

    const step = await belay(['signal', 'order:1', 'shiped', '--unchecked'], { env })
    const data = await belay(['signal', 'order:1', 'shipped', '--data', 'T1'], { env })

    expect([step.status, step.stderr]).toEqual([2, expect.stringContaining('Did you mean "shipped"?')])
    expect([data.status, data.stderr]).toEqual([2, expect.stringMatching(/^--data is not JSON: /)])
  })
})

describe('belay approve and reject', () => {
  it('approve, with a comment, and the run goes on', async () => {
    const { env, engine, run } = await waitingOrder()
    const argv = ['approve', 'order:1', 'approveOrder', '--comment', 'known customer', '--by', 'ops']

    const sent = await belay(argv, { env, columns: 80 })
    const again = await belay(argv, { env, columns: 80 })

    expect(sent).toEqual({ stdout: 'delivered: approved by ops\n', stderr: '', status: 0 })
    expect(again.stdout).toBe('duplicate: it was sent before, and nothing has changed\n')
    await expect
      .poll(async () => (await engine.runs.get(run.id))?.steps.find(({ name }) => name === 'approveOrder'))
      .toMatchObject({
        status: 'completed',
        output: { approved: true, by: 'ops', comment: 'known customer' },
      })
  })

  it('reject, and refuse an approval that comes later', async () => {
    const { env, run } = await waitingOrder()

    const sent = await belay(['reject', 'order:1', 'approveOrder', '--by', 'ops'], { env, columns: 80 })
    await run.result().catch(() => {})
    const late = await belay(['approve', 'order:1', 'approveOrder', '--by', 'ada'], { env })

    expect(sent.stdout).toBe('delivered: rejected by ops\n')
    expect(late.stderr).toMatch(/rejected.*\n {2}belay show order:1\n$/)
    expect([late.stdout, late.status]).toEqual(['', 1])
  })

  it('need a payload checked like a signal', async () => {
    const { env } = await waitingOrder()

    const { stderr, status } = await belay(['approve', 'order:1', 'approveOrder', '--data', '1'], { env })

    expect(stderr).toContain('nobody checks this payload')
    expect(status).toBe(2)
  })
})
