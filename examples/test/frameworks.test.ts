import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Program } from './program.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ major: 18 })
})
afterAll(() => server.stop())

/** The application in a process of its own, as `node examples/frameworks/dist/main.js hono` starts it. */
async function start(framework: string) {
  const program = new Program('../frameworks/dist/main.js', [framework], {
    DATABASE_URL: await server.createDatabase(),
  })
  onTestFinished(async () => {
    await program.kill('SIGKILL')
  })
  await program.says('listens on')
  const url = /http:\S+/.exec(program.output)![0]
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { program, url, post }
}

/** The names of the server-sent events, and what the steps told. */
function summary(stream: string) {
  const events = stream.trim().split('\n\n')
  const names = events.map((event) => /^event: (\w+)$/m.exec(event)?.[1])
  return { last: names.at(-1), names: new Set(names), stream }
}

describe.each(['hono', 'express', 'fastify'])('the application with %s', (framework) => {
  test('starts a run once for each key, and answers what is wrong', async () => {
    const { url, post } = await start(framework)

    const first = await post('/orders/o1', { item: 'rope' })
    const again = await post('/orders/o1', { item: 'rope' })
    const other = await post('/orders/o1', { item: 'harness' })
    const wrong = await post('/orders/o2', { item: '' })
    const unknown = await fetch(`${url}/runs/01920000-0000-7000-8000-000000000000`)

    expect([first, again, other, wrong, unknown].map(({ status }) => status)).toEqual([
      202, 202, 409, 400, 404,
    ])
    expect(await again.json()).toEqual(await first.json())
  })

  test('streams the changes of a run to its end', async () => {
    const { url, post } = await start(framework)
    const { runId } = (await (await post('/orders/o1', { item: 'rope' })).json()) as { runId: string }

    const response = await fetch(`${url}/runs/${runId}/changes`)
    const { last, names, stream } = summary(await response.text())

    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(last).toBe('end')
    expect([...names]).toEqual(expect.arrayContaining(['run', 'step']))
    expect(stream).toContain('packed rope-1')
    expect(await (await fetch(`${url}/runs/${runId}`)).json()).toEqual({ status: 'completed' })
  })

  test('on SIGTERM ends its streams, and then itself', async () => {
    const { program, url, post } = await start(framework)
    const { runId } = (await (await post('/orders/o1', { item: 'rope', later: true })).json()) as {
      runId: string
    }
    const response = await fetch(`${url}/runs/${runId}/changes`)
    const reader = response.body!.getReader()
    expect((await reader.read()).done).toBe(false)

    const ended = program.kill('SIGTERM')
    while (!(await reader.read()).done);

    expect(await ended).toMatchObject({ code: 0, signal: null })
  })
})
