import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type PostgresServer, startPostgres } from '@belay/postgres-server'
import { createEngine, type WatchedChange } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { importPhotos } from '../src/progress/import-photos.ts'
import { progressServer } from '../src/progress/serve-progress.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ major: 18, inMemory: true })
})
afterAll(() => server.stop())

/** A worker, and a web process that only watches: each with its own connections. */
async function setUp(take: (photo: string) => Promise<void>) {
  const workflow = importPhotos(take)
  const worker = createEngine({
    adapter: postgres(server.url, { autoMigrate: true }),
    workflows: [workflow],
    tick: '20ms',
  })
  const watching = createEngine({ adapter: postgres(server.url), tick: '20ms' })
  await worker.start()
  const http = progressServer(watching).listen(0, '127.0.0.1')
  await once(http, 'listening')
  onTestFinished(async () => {
    http.closeAllConnections()
    await watching.close()
    await worker.close({ timeout: 0 })
    http.close()
  })
  return { workflow, worker, watching, urlOf: (runId: string) => urlOf(http, runId) }
}

function urlOf(http: Server, runId: string): string {
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/runs/${runId}/changes`
}

/** Reads server-sent events as a browser's EventSource does, until the server ends them. */
async function* eventsOf(url: string, signal?: AbortSignal): AsyncGenerator<WatchedChange | { type: 'end' }> {
  const response = await fetch(url, { headers: { accept: 'text/event-stream' }, signal: signal ?? null })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  let text = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]),
      )
      text = text.slice(end + 2)
      if (fields.get('event') === 'end') yield { type: 'end' }
      else yield JSON.parse(fields.get('data')!)
    }
  }
}

test('a browser sees the progress of a run that another process executes, and its end', async () => {
  let finish = () => {}
  const mayFinish = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { workflow, worker, urlOf } = await setUp((photo) =>
    photo === 'c.jpg' ? mayFinish : Promise.resolve(),
  )
  const run = await worker.run(workflow, { photos: ['a.jpg', 'b.jpg', 'c.jpg'] })

  const seen: string[] = []
  for await (const event of eventsOf(urlOf(run.id))) {
    if (event.type === 'progress') seen.push(`${event.step} ${event.done}/${event.total} ${event.note}`)
    else if (event.type === 'step') seen.push(`${event.step} ${event.status}`)
    else if (event.type === 'value') seen.push(`${event.key} ${JSON.stringify(event.value)}`)
    else seen.push(event.type === 'run' ? event.status : event.type)
    // The worker sends the latest progress within a quarter of a second. Then the run may end.
    if (event.type === 'value' && JSON.stringify(event.value).includes('b.jpg')) finish()
  }

  expect(seen).toContain('take 2/3 b.jpg')
  expect(seen).toContain('take 3/3 c.jpg')
  expect(seen).toContain('preview {"photo":"c.jpg"}')
  expect(seen.slice(-2)).toEqual(['completed', 'end'])
  expect(await run.step('take')).toEqual({ taken: 3 })
  expect(await run.values()).toEqual({ preview: { photo: 'c.jpg' } })
})

test('a browser that goes away ends its watch, and the run goes on', async () => {
  let finish = () => {}
  const mayFinish = new Promise<void>((resolve) => {
    finish = resolve
  })
  const { workflow, worker, watching, urlOf } = await setUp(() => mayFinish)
  const watches = vi.spyOn(watching, 'watch')
  const run = await worker.run(workflow, { photos: ['a.jpg'] })
  const browser = new AbortController()
  const events = eventsOf(urlOf(run.id), browser.signal)
  expect((await events.next()).value).toMatchObject({ type: 'run', status: 'running' })

  browser.abort()
  await expect(drained(events)).rejects.toThrow(/aborted/)
  // The server's loop has ended: before the run changes again, nothing else would end it.
  await vi.waitFor(
    async () => expect(await watches.mock.results[0]!.value.next()).toEqual({ done: true }),
    10_000,
  )

  finish()
  expect(await run.result()).toMatchObject({ take: { taken: 1 } })
})

async function drained(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}
