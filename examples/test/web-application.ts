import { createEngine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Program } from './program.ts'

/** A web application in a process of its own. */
export interface Application {
  readonly program: Program
  readonly database: string
  readonly url: string
  readonly post: (path: string, body: unknown) => Promise<Response>
}

/** Waits until a program that serves `database` has printed its address and then `says`. It ends with the test. */
export async function startApplication(
  program: Program,
  { database, says }: { readonly database: string; readonly says: string },
): Promise<Application> {
  onTestFinished(async () => {
    await program.kill('SIGKILL')
  })
  await program.says(says)
  const url = /http:\S+/.exec(program.output)![0]
  const post = (path: string, body: unknown) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { program, database, url, post }
}

/** Starts the application on a fresh database for each test, calls it, and stops it. */
export function testApplication(framework: string, start: () => Promise<Application>): void {
  describe(`the application with ${framework}`, () => {
    test('starts a run once for each key, and answers what is wrong', async () => {
      const { url, post } = await start()

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
      const { url, post } = await start()
      const { runId } = (await (await post('/orders/o1', { item: 'rope' })).json()) as { runId: string }

      const response = await fetch(`${url}/runs/${runId}/changes`)
      const { last, names, stream } = summary(await response.text())

      expect(response.headers.get('content-type')).toContain('text/event-stream')
      expect(last).toBe('end')
      expect([...names]).toEqual(expect.arrayContaining(['run', 'step']))
      expect(stream).toContain('packed rope-1')
      expect(await (await fetch(`${url}/runs/${runId}`)).json()).toEqual({ status: 'completed' })
    })

    test('sends a signal to a run that waits for it, and refuses a wrong one', async () => {
      const { url, post } = await start()
      const started = await post('/orders/o1', { item: 'rope', onHold: true })
      const { runId } = (await started.json()) as { runId: string }

      const wrong = await post(`/runs/${runId}/release`, { by: '' })
      const right = await post(`/runs/${runId}/release`, { by: 'grace' })
      const { last } = summary(await (await fetch(`${url}/runs/${runId}/changes`)).text())

      expect([wrong, right].map(({ status }) => status)).toEqual([400, 200])
      expect(['delivered', 'kept']).toContain(((await right.json()) as { result: string }).result)
      expect(last).toBe('end')
      expect(await (await fetch(`${url}/runs/${runId}`)).json()).toEqual({ status: 'completed' })
    })

    test('on SIGTERM ends its streams, and then itself', async () => {
      const { program, database, url, post } = await start()
      const { runId } = (await (await post('/orders/o1', { item: 'rope', onHold: true })).json()) as {
        runId: string
      }
      const response = await fetch(`${url}/runs/${runId}/changes`)
      const reader = response.body!.getReader()
      expect((await reader.read()).done).toBe(false)
      expect(await workersOf(database)).toBe(1)

      const ended = program.kill('SIGTERM')
      while (!(await reader.read()).done);

      expect(await ended).toMatchObject({ code: 0, signal: null })
      expect(await workersOf(database)).toBe(0)
    })
  })
}

/** How many workers are registered. One that closes takes its name out. */
export async function workersOf(database: string): Promise<number> {
  await using engine = createEngine({ adapter: postgres(database) })
  return (await engine.workers.list()).length
}

/** The names of the server-sent events, and what the steps told. */
function summary(stream: string) {
  const events = stream.trim().split('\n\n')
  const names = events.map((event) => /^event: (\w+)$/m.exec(event)?.[1])
  return { last: names.at(-1), names: new Set(names), stream }
}
