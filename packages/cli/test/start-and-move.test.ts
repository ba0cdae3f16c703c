import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { configFolder } from './setup/config.ts'
import { testStore } from './setup/store.ts'

const order = define('fulfil-order', { version: 3 }).waitForSignal('shipped')

/** Runs of version 3, and a folder whose config has it and version 4. */
async function orders(count: number) {
  const store = await testStore()
  const engine = store.engine()
  const keys = Array.from({ length: count }, (_, index) => ({ key: `order:${index + 1}` }))
  const runs = count === 0 ? [] : await engine.runMany(order, keys)
  const cwd = await configFolder(`[
    define('fulfil-order', { version: 3 }).waitForSignal('shipped'),
    define('fulfil-order', { version: 4, input: { '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value) => value?.amount ? { value } : { issues: [{ message: 'amount is missing' }] },
    } } }).waitForSignal('shipped').step('bill', { dependsOn: ['shipped'], run: () => 1 }),
  ]`)
  return { ...store, engine, runs, cwd }
}

describe('belay run', () => {
  it('starts the highest version of the config, once for each key, and answers the id', async () => {
    const { env, engine, cwd } = await orders(0)
    const argv = ['run', 'fulfil-order', '--input', '{"amount":1}', '--key', 'order:7', '--tag', 'a,b']

    const first = await belay([...argv, '--priority', '7', '--delay', '2h'], { env, cwd, columns: 80 })
    const again = await belay(argv, { env, cwd })

    const id = first.stdout.trim()
    expect(first.stderr).toBe('Follow: belay watch order:7\n')
    expect(again.stdout).toBe(`${id}\n`)
    expect(again.stderr).toBe('It was there already: nothing was started.\nFollow: belay watch order:7\n')
    expect(await engine.runs.get(id)).toMatchObject({
      version: 4,
      key: 'order:7',
      tags: ['a', 'b'],
      priority: 7,
      status: 'scheduled',
      input: { amount: 1 },
    })
  })

  it('starts a workflow that only the store knows, and says that nobody checked its input', async () => {
    const { env, engine } = await orders(1)

    const { stdout, stderr, status } = await belay(['run', 'fulfil-order', '--input', '{"a":1}'], { env })
    const { stdout: json } = await belay(['run', 'fulfil-order', '--json'], { env })

    expect(stderr).toBe(
      `No config has fulfil-order v3: nobody checked its input.\nFollow: belay watch ${stdout}`,
    )
    expect(status).toBe(0)
    expect((await engine.runs.get(stdout.trim()))?.input).toEqual({ a: 1 })
    expect(JSON.parse(json)).toMatchObject({
      workflow: 'fulfil-order',
      version: 3,
      key: null,
      created: true,
      checked: false,
    })
  })

  it('starts nothing with a wrong input, an unknown workflow or a wrong duration', async () => {
    const { env, engine, cwd } = await orders(0)

    const input = await belay(['run', 'fulfil-order', '--input', '{}'], { env, cwd })
    const text = await belay(['run', 'fulfil-order', '--input', 'yes'], { env, cwd })
    const name = await belay(['run', 'fulfill-order'], { env, cwd })
    const delay = await belay(['run', 'fulfil-order', '--delay', 'soon', '--input', '{"amount":1}'], {
      env,
      cwd,
    })

    expect([input.status, input.stderr]).toEqual([2, expect.stringContaining('amount is missing')])
    expect([text.status, text.stderr]).toEqual([2, expect.stringMatching(/^--input is not JSON: /)])
    expect([name.status, name.stderr]).toEqual([1, expect.stringContaining('Did you mean "fulfil-order"?')])
    expect([delay.status, delay.stderr]).toEqual([2, expect.stringMatching(/^Delay must be a duration/)])
    expect(await engine.runs.list()).toEqual([])
  })
})

describe('belay move', () => {
  it('moves a run to a version that the config has', async () => {
    const { env, engine, runs, cwd } = await orders(1)
    const argv = ['move', 'order:1', '--to', '4', '--reason', 'version 3 never bills', '--by', 'ops']

    const moved = await belay(argv, { env, cwd, columns: 80 })
    const again = await belay(argv, { env, cwd, columns: 80 })

    expect(moved).toEqual({ stdout: 'order:1: v3 → v4, as ops\n', stderr: '', status: 0 })
    expect(again.stdout).toBe('order:1 is running: there was nothing to change.\n')
    expect((await engine.runs.get(runs[0]!.id))?.version).toBe(4)
  })

  it('moves those that are shown first, of a filter and of a list', async () => {
    const { env, engine, runs, cwd } = await orders(3)
    const argv = ['--to', '4', '--reason', 'billing', '--yes', '--by', 'ops']

    const list = await belay(['move', '-', ...argv], { env, cwd, input: `${runs[0]!.id}\n` })
    const filter = await belay(['move', '--status', 'running,waiting', ...argv], { env, cwd })

    expect(list.stdout).toBe('1 moved to v4, 0 refused.\n')
    expect(filter.stderr).toBe(
      [
        'Dry run: 3 running or waiting runs',
        '  2  would be moved to v4: order:3, order:2',
        '  1  would not change: there is nothing to do',
        '',
      ].join('\n'),
    )
    expect(filter.stdout).toBe('2 moved to v4, 0 refused.\n')
    expect(await engine.runs.count({ version: 4 })).toMatchObject({ count: 3 })
  })

  it('says which definition is missing', async () => {
    const { env, cwd } = await orders(1)
    const argv = ['move', 'order:1', '--to', '9', '--reason', 'newer']

    const version = await belay(argv, { env, cwd })
    const config = await belay(argv, { env })
    const whose = await belay(['move', '--tag', 'x', '--to', '9', '--dry-run'], { env, cwd })

    const said =
      'No config has fulfil-order v9, and a run is moved with its definition. Add it to `workflows` of'
    expect(version.stderr.replaceAll('\n', ' ')).toMatch(new RegExp(`^${said} .*belay\\.config\\.ts\\. $`))
    expect(config.stderr).toBe(`${said} a belay.config.ts.\n`)
    expect(whose.stderr).toBe('--workflow is missing: whose runs are moved?\n')
    expect([version.status, config.status, whose.status]).toEqual([2, 2, 2])
  })
})
