import { fileURLToPath } from 'node:url'
import { define, type Engine, type RunHandle, unchecked } from '@belay/workflow'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type TestStore, testStore } from './setup/store.ts'

/** Stands wherever a user's payload can stand. */
const SECRET = 'secret-4111'

let release = () => {}
const held = new Promise<void>((resolve) => {
  release = resolve
})
const failing = (place: string) => () =>
  Promise.reject(
    new Error(`${SECRET} in ${place}, and has done 3 (${SECRET})`, {
      cause: new Error(`${SECRET} below ${place}`),
    }),
  )

const open = define('open', { version: 1, input: unchecked<string>() })
  .step('tells', {
    run: async ({ progress, publish }) => {
      await publish('preview', SECRET)
      await progress(1, 2, `${SECRET} (${SECRET})`)
      await held
    },
  })
  .step('retries', { run: failing('retries'), retry: { retries: 1, initial: '1h' } })
  .step('continues', { run: failing('continues'), retry: false, onFailure: 'continue' })
  .waitForSignal('go', {})
const failed = define('failed', { version: 1 }).step('fails', { run: failing('failed'), retry: false })
const parked = define('parked', { version: 1 })
  .step('made', { run: () => SECRET, compensate: { run: failing('undo'), retry: false } })
  .step('fails', { dependsOn: ['made'], run: failing('parked'), retry: false })
let accepts = true
const validate = (value: unknown) =>
  accepts ? { value } : { issues: [{ message: `${SECRET} has expired` }] }
const picky = define('picky', {
  version: 1,
  input: { '~standard': { version: 1, vendor: 'test', validate } },
}).step('a', { run: () => 1 })

let store: TestStore
let engine: Engine
let runs: readonly RunHandle[]

beforeAll(async () => {
  store = await testStore({ isShared: true })
  engine = store.engine({ workflows: [open, failed, parked, picky] })
  await engine.start()
  runs = await Promise.all([engine.run(open, SECRET), engine.run(failed), engine.run(parked)])
  await runs[0]!.signal('go', SECRET)
  await engine.schedules.put('refused', { every: '1s', workflow: picky, input: SECRET })
  accepts = false
  await vi.waitFor(async () => {
    const found = await Promise.all(runs.map(({ id }) => engine.runs.get(id)))
    expect(found.map((run) => run!.status)).toEqual(['running', 'failed', 'compensation_failed'])
    expect(found[0]!.steps.find(({ name }) => name === 'tells')!.progress).toBeDefined()
    expect(found[0]!.steps.filter(({ error }) => error !== undefined)).toHaveLength(2)
    const firings = await engine.schedules.history('refused')
    expect(firings).toContainEqual(expect.objectContaining({ status: 'failed' }))
  }, 20_000)
})
afterAll(() => release())

async function connected(...flags: readonly string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [fileURLToPath(new URL('../bundle/bin.js', import.meta.url)), 'mcp', ...flags],
    env: { ...(process.env as Record<string, string>), ...store.env },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  return {
    client,
    async text(name: string, args: Record<string, unknown>): Promise<string> {
      const { content } = await client.callTool({ name, arguments: args })
      return (content as { text: string }[])[0]!.text
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

it('without --payloads, no tool that reads tells a payload, wherever one stands', async () => {
  await using mcp = await connected()
  const { tools } = await mcp.client.listTools()
  const valuesOf: Readonly<Record<string, readonly string[]>> = {
    run: runs.map(({ id }) => id),
    workflow: ['open'],
    schedule: ['refused'],
    limit: ['none'],
  }
  const told: string[] = []
  for (const { name, inputSchema } of tools) {
    const [arg] = inputSchema.required ?? []
    for (const value of arg === undefined ? [''] : (valuesOf[arg] ?? [])) {
      const text = await mcp.text(name, arg === undefined ? {} : { [arg]: value })
      expect([name, value, text]).toEqual([name, value, expect.not.stringContaining(SECRET)])
      told.push(name)
    }
  }
  expect(told).toEqual(expect.arrayContaining(['explain', 'show', 'export', 'doctor', 'schedules_history']))
})

it('with --payloads, sentences tell errors and notes; without, the name of the error', async () => {
  await using all = await connected('--payloads')
  await using blind = await connected()
  const run = runs[0]!.id
  const seen = JSON.parse(await all.text('explain', { run }))
  const hidden = JSON.parse(await blind.text('explain', { run }))
  const of = ({ steps }: typeof seen, name: string) =>
    steps.find(({ step }: { step: string }) => step === name).sentence

  expect(of(seen, 'tells')).toContain(`, and has done 1 of 2 (${SECRET} (${SECRET})).`)
  expect(of(hidden, 'tells')).toMatch(/, and has done 1 of 2\.$/)
  expect(of(hidden, 'retries')).toMatch(/^"retries" failed once \(Error\) and is tried again at /)
  expect(hidden.continued).toEqual([
    { step: 'continues', sentence: '"continues" failed (Error), and the run continued.' },
  ])
})
