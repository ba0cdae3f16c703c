import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Problem } from '../../src/api.ts'
import { ASSETS } from '../../src/assets.generated.ts'
import { ANSWERS, type Answers } from './answers.ts'

const BASE = '/tools/belay/'

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** `hangs`: there is no answer at all. */
type Failure = { readonly status: number; readonly problem: Problem } | 'hangs'

/** Serves the built page below a base path, as strictly as the real server does, and answers from a table that a test may change. */
export interface Fixture {
  readonly url: string
  answers: Answers
  /** By the path's beginning, like `runs?` or `overview`; `` for all of them. */
  failing: Readonly<Record<string, Failure>>
  /** The paths below `api/` that were asked for. */
  readonly asked: string[]
  readonly reset: () => void
  readonly stop: () => Promise<void>
}

export async function startFixture(): Promise<Fixture> {
  const server = createServer((request, response) => {
    const path = (request.url ?? '').slice(BASE.length)
    if (path.startsWith('api/')) answer(fixture, path.slice(4), response)
    else asset(path.split('?')[0]!, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const fixture: Fixture = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${BASE}`,
    answers: ANSWERS,
    failing: {},
    asked: [],
    reset() {
      fixture.answers = ANSWERS
      fixture.failing = {}
      fixture.asked.length = 0
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return fixture
}

function asset(name: string, response: ServerResponse): void {
  const { type, body } = ASSETS[name] ?? ASSETS['index.html']!
  response.writeHead(200, { ...HEADERS, 'content-type': type }).end(body.replaceAll('__BASE__', BASE))
}

function answer({ answers, failing, asked }: Fixture, path: string, response: ServerResponse): void {
  asked.push(path)
  const failure = Object.entries(failing).find(([begin]) => path.startsWith(begin))?.[1]
  if (failure === 'hangs') return
  if (failure !== undefined) return send(response, failure.status, failure.problem)
  const { pathname, searchParams } = new URL(path, 'http://fixture')
  const [root, name] = pathname.slice(1).split('/')
  if (root === 'runs' && name === undefined) return send(response, 200, answers.runs(searchParams))
  if (root === 'runs' && name === 'counts') return send(response, 200, answers.counts)
  const more = pathname.slice(1).split('/').slice(2).join('/')
  if (root === 'runs' && more.startsWith('items'))
    return send(response, 200, answers.items?.(more, searchParams))
  if (root === 'runs') {
    const found = answers.run(decodeURIComponent(name!))
    return found === undefined
      ? send(response, 404, { code: 'not_found', message: `No run is called “${name}”.` })
      : send(response, 200, found)
  }
  send(response, 200, answers[root as 'session' | 'overview' | 'health' | 'names'])
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify(body))
}
