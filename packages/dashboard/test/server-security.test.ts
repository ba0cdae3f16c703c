import type { Engine } from '@belay/workflow'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Problem } from '../src/api.ts'
import { type DashboardHandler, dashboard } from '../src/index.ts'
import { get, ORIGIN, opened, post } from './setup/calls.ts'
import { testStore } from './setup/store.ts'

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** An engine whose reads throw this. */
function failing(error: unknown): Engine {
  const fail = () => Promise.reject(error)
  return { explain: fail, runs: { list: fail }, workers: { list: fail } } as unknown as Engine
}

afterEach(() => {
  vi.restoreAllMocks()
})

describe('every answer', () => {
  test('has the headers that keep the page safe', async () => {
    const engine = (await testStore()).engine()
    const handler = opened({ engine })
    vi.spyOn(console, 'error').mockReturnValue()
    const answers = [
      await handler(new Request(`${ORIGIN}/`)),
      await handler(new Request(`${ORIGIN}/runs/1`)),
      await handler(new Request(`${ORIGIN}/`, { method: 'POST' })),
      await get(handler, 'session'),
      await get(handler, 'session', { method: 'HEAD' }),
      await get(handler, 'nothing'),
      await get(handler, 'runs?limit=0'),
      await post(handler, 'session', {}),
      await get(opened({ engine, authorize: () => null }), 'session'),
      await opened({ engine, authorize: () => null })(new Request(`${ORIGIN}/`)),
      await get(opened({ engine: failing(new Error('x')) }), 'runs'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 405, 200, 200, 404, 400, 405, 401, 401, 500,
    ])
    for (const { headers } of answers) {
      expect(Object.fromEntries(Object.keys(HEADERS).map((name) => [name, headers.get(name)]))).toEqual(
        HEADERS,
      )
    }
  })

  test('to nobody is 401: JSON for the API, plain text for pages and files', async () => {
    const handler = opened({ engine: failing(new Error('x')), authorize: async () => null })
    const api = await get(handler, 'runs')
    expect([api.status, ((await api.json()) as Problem).code]).toEqual([401, 'unauthorized'])
    for (const path of ['/', '/index.html', '/runs/1', '/apiary']) {
      const page = await handler(new Request(ORIGIN + path))
      expect([page.status, page.headers.get('content-type')]).toEqual([401, 'text/plain; charset=utf-8'])
    }
  })
})

describe('errors', () => {
  test.each([
    ['an unknown error', new Error('connect postgres://u:secret@db/x'), 500, 'internal_error'],
    ['a thrown value', 'secret', 500, 'internal_error'],
    [
      'a store that is away',
      Object.assign(new Error('secret@db'), { code: 'store_unavailable', [Symbol.for('belay.error')]: true }),
      503,
      'store_unavailable',
    ],
  ])('%s is logged, and answered with one sentence', async (_, error, status, code) => {
    const logged = vi.spyOn(console, 'error').mockReturnValue()
    const response = await get(opened({ engine: failing(error) }), 'runs')
    const text = await response.text()
    expect([response.status, JSON.parse(text).code]).toEqual([status, code])
    expect(text).not.toMatch(/secret|\bat \w+ \(/)
    expect(logged).toHaveBeenCalledWith(expect.any(String), error)
  })

  test('credentials in a text of the engine are left out', async () => {
    const message = 'The URL postgres://ada:secret@db.example/shop is wrong.'
    const error = Object.assign(new Error(message), {
      code: 'invalid_option',
      [Symbol.for('belay.error')]: true,
    })
    const response = await get(opened({ engine: failing(error) }), 'runs')
    expect(((await response.json()) as Problem).message).toBe(
      'The URL postgres://…@db.example/shop is wrong.',
    )
  })

  test.each([
    ['throws', () => Promise.reject(new Error('secret'))],
    ['returns nothing', () => undefined as never],
    ['returns nobody', () => ({ by: '', can: [] }) as never],
    ['returns an unknown capability', () => ({ by: 'ada', can: ['everything'] }) as never],
    ['returns no capabilities', () => ({ by: 'ada' }) as never],
  ])('an authorize that %s lets nobody in', async (_, authorize) => {
    vi.spyOn(console, 'error').mockReturnValue()
    const handler = opened({ engine: failing(new Error('x')), authorize })
    for (const path of ['/', '/api/session']) {
      const response = await handler(new Request(ORIGIN + path))
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain('secret')
    }
  })
})

test.each([
  ['the same origin', { origin: ORIGIN }, 400],
  [
    'a browser behind a proxy that ends TLS',
    { origin: 'https://a.example', 'sec-fetch-site': 'same-origin' },
    400,
  ],
  ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['a page of the same site', { 'sec-fetch-site': 'same-site' }, 403],
  ['an address typed by somebody', { 'sec-fetch-site': 'none' }, 403],
  ['an opaque origin', { origin: 'null' }, 403],
  ['another port', { origin: `${ORIGIN}:8443` }, 403],
])('a write from %s', async (_, headers, status) => {
  const handler = opened({ engine: failing(new Error('x')) })
  expect((await post(handler, 'runs/1/actions', {}, headers)).status).toBe(status)
})

describe('the page', () => {
  const at = async (handler: DashboardHandler, path: string) =>
    (await handler(new Request(ORIGIN + path))).text()

  test('is at each path that is no file, and knows its base', async () => {
    const engine = failing(new Error('x'))
    for (const path of ['/', '/runs/1', '/index.html', '/apiary', '/%00', '/../etc/passwd', '/__proto__']) {
      expect(await at(opened({ engine }), path)).toMatch(/src="\/app-/)
    }
    for (const basePath of ['/ops/belay', '/ops/belay/']) {
      const handler = opened({ engine, basePath })
      for (const path of ['/ops/belay', '/ops/belay/', '/ops/belay/runs/1', '/runs/1']) {
        expect(await at(handler, path)).toMatch(/src="\/ops\/belay\/app-/)
      }
      // With the mount path, and without it where a proxy has taken it off.
      for (const path of ['/ops/belay/api/session', '/api/session']) {
        expect(await at(handler, path)).toContain('"by":"ada"')
      }
    }
  })
})

describe('options', () => {
  const engine = failing(new Error('x'))
  const authorize = () => null
  test.each([
    [undefined, /takes an object/],
    [{ engine }, /authorize is missing/],
    [{ authorize }, /engine is no engine/],
    [{ engine: {}, authorize }, /engine is no engine/],
    [{ engine, authorize, basePath: 'belay' }, /basePath is no path/],
    [{ engine, authorize, basePath: '/a"><script>' }, /basePath is no path/],
    [{ engine, authorize, basePath: '/../a' }, /basePath is no path/],
    [{ engine, authorize, basePath: '//evil.example' }, /basePath is no path/],
    [{ engine, authorize, title: '' }, /title is no title/],
    [{ engine, authorize, redact: true }, /redact is no function/],
    [{ engine, authorize, workflows: ['job'] }, /workflows is no list of workflows/],
    [{ engine, authorize, reedact: () => {} }, /no option "reedact"/],
  ])('%# that are wrong are refused with what to do', (options, message) => {
    expect(() => dashboard(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) }),
    )
  })
})
