import { define, type Engine, type RunHandle, unchecked } from '@belay/workflow'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { RunPage } from '../src/api.ts'
import { get, opened, read } from './setup/calls.ts'
import { testStore } from './setup/store.ts'

/** Stands wherever a user's payload can stand. */
const SECRET = 'secret-4111'

let release = () => {}
const held = new Promise<void>((resolve) => {
  release = resolve
})
const fail = () =>
  Promise.reject(new Error(`${SECRET}, and has done 3 (${SECRET})`, { cause: new Error(SECRET) }))

const open = define('open', { version: 1, input: unchecked<string>() })
  .step('tells', {
    run: async ({ progress, publish }) => {
      await publish('preview', SECRET)
      await progress(1e-7, 1e21, `${SECRET} (${SECRET})`)
      await held
    },
  })
  .step('retries', { run: fail, retry: { retries: 1, initial: '1h' } })
  .step('continues', { run: fail, retry: false, onFailure: 'continue' })
  .step('gives', { run: () => SECRET })
  .map('each', { over: () => ['a', 'b'], run: fail, retry: { retries: 1, initial: '1h' } })
const failed = define('failed', { version: 1, input: unchecked<string>() }).step('fails', {
  run: fail,
  retry: false,
})
const parked = define('parked', { version: 1 })
  .step('made', { run: () => SECRET, compensate: { run: fail, retry: false } })
  .step('fails', { dependsOn: ['made'], run: fail, retry: false })
const pivoted = define('pivoted', { version: 1 })
  .step('paid', { run: () => SECRET, pivot: true })
  .step('fails', { dependsOn: ['paid'], run: fail, retry: false })
let accepts = true
const validate = (value: unknown) =>
  accepts ? { value } : { issues: [{ message: `${SECRET} has expired` }] }
const picky = define('picky', {
  version: 1,
  input: { '~standard': { version: 1, vendor: 'test', validate } },
}).step('a', { run: () => 1 })

let engine: Engine
let runs: readonly RunHandle[]

beforeAll(async () => {
  engine = (await testStore({ isShared: true })).engine({ workflows: [open, failed, parked, pivoted, picky] })
  await engine.start()
  runs = await Promise.all([
    engine.run(open, SECRET),
    engine.run(failed, SECRET),
    engine.run(parked),
    engine.run(pivoted),
  ])
  await engine.schedules.put('refused', { every: '1s', workflow: picky, input: SECRET })
  accepts = false
  await vi.waitFor(async () => {
    const statuses = await Promise.all(runs.map(async (run) => (await engine.runs.get(run.id))!.status))
    expect(statuses).toEqual(['running', 'failed', 'compensation_failed', 'parked'])
    const { steps } = (await engine.runs.get(runs[0]!.id))!
    expect(steps.find(({ name }) => name === 'tells')!.progress).toBeDefined()
    expect(steps.filter(({ error }) => error !== undefined)).toHaveLength(4)
    expect(await engine.schedules.history('refused')).toContainEqual(
      expect.objectContaining({ status: 'failed' }),
    )
  }, 20_000)
})
afterAll(() => release())

test('a viewer who may not read payloads finds none, whatever they ask', async () => {
  const blind = opened({ engine }, [])
  const addresses = [
    ...['overview', 'health', 'needs', 'runs', 'runs/counts', 'waiting', 'parked', 'workers', 'limits'],
    ...['schedules', 'schedules/refused', 'versions', 'repairs', 'versions/open'],
    ...runs.flatMap(({ id }) => [`runs/${id}`, `runs/${id}/rows`]),
    ...['items?map=each', 'items/errors?map=each', 'items/states?map=each'].map(
      (rest) => `runs/${runs[0]!.id}/${rest}`,
    ),
  ]
  for (const address of addresses) {
    const response = await get(blind, address)
    expect([address, response.status]).toEqual([address, 200])
    expect([address, await response.text()]).toEqual([address, expect.not.stringContaining(SECRET)])
  }
})

test('a sentence without payloads still tells the error by its name, and the numbers of a progress', async () => {
  const sentences = async (can: 'all' | []) => {
    const { open } = await read<RunPage>(opened({ engine }, can), `runs/${runs[0]!.id}`)
    return new Map(open.map(({ step, sentence }) => [step, sentence]))
  }
  const [seen, blind] = [await sentences('all'), await sentences([])]

  expect(blind.get('tells')).toMatch(/ since \S+, and has done 1e-7 of 1e\+21\.$/)
  expect(blind.get('retries')).toMatch(/^"retries" failed once \(Error\) and is tried again at \S+\.$/)
  expect(seen.get('tells')).toContain(`, and has done 1e-7 of 1e+21 (${SECRET} (${SECRET})).`)
  expect(seen.get('retries')).toContain(`(Error: ${SECRET}, and has done 3 (${SECRET}))`)
})
