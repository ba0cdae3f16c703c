import { fileURLToPath } from 'node:url'
import { define } from '@belay/workflow'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { withoutPayloads } from '../src/mcp/redact.ts'
import { type TestStore, testStore } from './setup/store.ts'

const SECRET = 'card 4111 1111'

const order = define('fulfil-order', { version: 3 }).step('charge', {
  run: () => Promise.reject(new Error(`refused: ${SECRET}`)),
  retry: false,
})

/** A client of a server in a process of its own. */
async function connected({ env }: TestStore, ...flags: readonly string[]): Promise<Client> {
  const program = fileURLToPath(new URL('../bundle/bin.js', import.meta.url))
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', ...flags],
    env: { ...(process.env as Record<string, string>), ...env },
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

async function text(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content, isError } = await client.callTool({ name, arguments: args })
  return { text: (content as { text: string }[])[0]!.text, isError }
}

async function withFailedRun() {
  const store = await testStore()
  const engine = store.engine({ workflows: [order] })
  await engine.start()
  const run = await engine.run(order, { card: SECRET }, { key: 'order:1' })
  await run.result().catch(() => {})
  return { store, run }
}

describe('belay mcp', () => {
  it('offers what reads as tools, with the texts of the help', async () => {
    const { store } = await withFailedRun()
    const client = await connected(store)

    const { tools } = await client.listTools()

    const names = tools.map(({ name }) => name)
    expect(names).toContain('list')
    expect(names).toContain('explain')
    expect(names).not.toContain('cancel')
    expect(names).not.toContain('init')
    const list = tools.find(({ name }) => name === 'list')!
    expect(list.description).toContain('Lists runs, newest first')
    expect(list.inputSchema.properties).toMatchObject({
      status: { type: 'array', items: { enum: expect.arrayContaining(['completed']) } },
      limit: { type: 'integer' },
    })
    expect(list.annotations).toMatchObject({ readOnlyHint: true })
  })

  it('answers with the documents of --json, without payloads', async () => {
    const { store, run } = await withFailedRun()
    const client = await connected(store)

    const listed = await text(client, 'list', { status: ['failed'] })
    const shown = await text(client, 'show', { run: 'order:1' })

    expect(JSON.parse(listed.text)).toMatchObject({ runs: [{ id: run.id, status: 'failed' }] })
    expect(listed.isError).toBe(false)
    expect(shown.text).toContain(run.id)
    expect(shown.text).not.toContain('4111')
  })

  it('says what is wrong with a call, and goes on', async () => {
    const { store } = await withFailedRun()
    const client = await connected(store)

    expect(await text(client, 'show', { run: 'order:2' })).toEqual({
      text: expect.stringContaining('No run has the key "order:2".'),
      isError: true,
    })
    expect((await text(client, 'list', { status: ['complete'] })).isError).toBe(true)
    expect((await text(client, 'cancel', { run: 'order:1', reason: 'x' })).isError).toBe(true)
    expect((await text(client, 'list')).isError).toBe(false)
  })

  it('acts only if it may, and on many runs only after a dry run', async () => {
    const { store, run } = await withFailedRun()
    const client = await connected(store, '--allow-writes')
    const many = { run: '-', workflow: ['fulfil-order'], reason: 'the card works again' }

    const dry = await text(client, 'retry', { ...many, run: undefined })
    const before = await store.engine().runs.get(run.id)
    const done = await text(client, 'retry', { ...many, run: undefined, yes: true, expect: 1 })

    expect(dry.text).toContain('1')
    expect(before!.status).toBe('failed')
    expect(done.isError).toBe(false)
    expect((await store.engine().runs.history(run.id)).map(({ action }) => action)).toEqual(['retry'])
  })
})

describe('payloads in a document', () => {
  it('are hidden wherever they stand, and of errors all but name and code', () => {
    const cause = { name: 'TypeError', message: 'no card', code: 'E1', stack: 'at card 4711' }
    expect(
      withoutPayloads({
        runs: [{ id: '1', input: { a: 1 }, output: null }],
        steps: [{ error: { name: 'Error', message: 'no funds', cause } }],
      }),
    ).toEqual({
      runs: [{ id: '1', input: expect.stringContaining('hidden'), output: null }],
      steps: [
        {
          error: {
            name: 'Error',
            message: expect.stringContaining('hidden'),
            cause: {
              ...{ name: 'TypeError', code: 'E1' },
              ...{ message: expect.stringContaining('hidden'), stack: expect.stringContaining('hidden') },
            },
          },
        },
      ],
    })
  })
})
