import { describe, expect, it, onTestFinished } from 'vitest'
import { oddRequests, sendAll } from '../../dashboard/test/setup/odd-requests.ts'
import { belay } from './setup/belay.ts'
import { type Shop, shop } from './setup/shop.ts'

/** Starts `belay dashboard`; resolves with the printed address, and ends it with the test. */
async function opened({ env }: Pick<Shop, 'env'>, ...flags: readonly string[]): Promise<URL> {
  const end = new AbortController()
  const address = new Promise<string>((resolve) => {
    const ended = belay(['dashboard', ...flags], { env, signal: end.signal, onLine: resolve })
    onTestFinished(async () => {
      end.abort()
      expect((await ended).status).toBe(0)
    })
  })
  return new URL((await address).trim())
}

/** Opens the printed address as a browser does, and returns the cookie with which it goes on. */
async function letIn(address: URL): Promise<string> {
  const response = await fetch(address, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
  return response.headers.get('set-cookie')!.split(';')[0]!
}

const action = (at: URL, id: string, cookie: string) =>
  fetch(new URL(`/api/runs/${id}/actions`, at), {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'x-belay': '1', origin: at.origin },
    body: JSON.stringify({ verb: 'pause', dryRun: false, reason: 'a look' }),
  })

describe('belay dashboard', () => {
  it('lets in who opens its address first, once, and shows the runs of the store', async () => {
    const at = await opened(await shop())
    expect((await fetch(new URL('/api/runs', at))).status).toBe(401)

    const cookie = await letIn(at)

    expect((await fetch(at, { redirect: 'manual' })).status).toBe(401)
    const page = await fetch(new URL('/', at), { headers: { cookie } })
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const runs = await fetch(new URL('/api/runs?key=order:9185', at), { headers: { cookie } })
    expect(await runs.json()).toMatchObject({ runs: [{ key: 'order:9185', status: 'compensation_failed' }] })
  })

  it('reads only, unless it may write; then the history has the user of this machine', async () => {
    const { env, runs, engine } = await shop()
    const { id } = runs['order:9182']
    const reading = await opened({ env })
    expect((await action(reading, id, await letIn(reading))).status).toBe(403)

    const writing = await opened({ env }, '--allow-writes', '--by', 'ops')
    expect((await action(writing, id, await letIn(writing))).status).toBe(200)

    expect(await engine().runs.history(id)).toMatchObject([{ action: 'pause', by: 'ops', reason: 'a look' }])
  })

  it('answers to no other name, and not to a wrong token', async () => {
    const at = await opened(await shop())
    const other = await fetch(new URL('/?token=x', at), { redirect: 'manual' })
    expect(other.status).toBe(401)
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      request(at, { headers: { host: 'evil.example' } }, ({ statusCode }) => resolve(statusCode)).end()
    })
    expect(status).toBe(421)
    await letIn(at)
  })

  it('goes on after any request, with and without a session', async () => {
    const at = await opened(await shop())
    await sendAll(Number(at.port), oddRequests(at.host))
    const cookie = await letIn(at)
    const inside = oddRequests(at.host).map((text) => text.replace('\r\n', `\r\ncookie: ${cookie}\r\n`))
    await sendAll(Number(at.port), inside)

    expect((await fetch(new URL('/api/session', at), { headers: { cookie } })).status).toBe(200)
  })

  it('leaves the session of another dashboard in the same browser as it is', async () => {
    const [one, other] = [await opened(await shop()), await opened(await shop())]
    const cookies = [await letIn(one), await letIn(other)]

    expect(new Set(cookies.map((cookie) => cookie.split('=')[0])).size).toBe(2)
    const cookie = cookies.join('; ')
    for (const at of [one, other])
      expect((await fetch(new URL('/api/session', at), { headers: { cookie } })).status).toBe(200)
  })
})
