import { connect } from 'node:net'

const TARGETS = [
  '//',
  '//[',
  '//[::1',
  '/\\',
  '/%',
  '/%ff%fe',
  '/%00',
  '/..%2f..%2f',
  '*',
  '?',
  '#',
  'http://[',
  'http://other.example/',
  '/?token=%',
  '/?token=%E0%A4%A',
  `/${'a'.repeat(8_000)}`,
  '/api/runs/%',
  '/api/runs//[',
  '/\u00e9',
]
const HOSTS = ['', ' ', '[', 'a b', 'a:b:c', '127.0.0.1:99999', '%', 'x'.repeat(2_000)]
const METHODS = ['TRACE', 'CONNECT', 'OPTIONS', 'PURGE', 'POST', 'HEAD']
const HEADERS = [
  'cookie: =;;; belay',
  'cookie: belay-1=%',
  'content-length: 9999999',
  'transfer-encoding: chunked\r\n\r\nzz',
  'x-forwarded-host: [',
  'sec-fetch-site: \u0080',
  'content-type: ;',
]

/** Requests as no browser sends them: first lines, hosts and headers that are odd, cut short, or no HTTP at all. */
export function oddRequests(host: string): readonly string[] {
  const whole = (method: string, target: string, ...headers: readonly string[]) =>
    `${method} ${target} HTTP/1.1\r\n${headers.join('\r\n')}\r\nconnection: close\r\n\r\n`
  return [
    ...TARGETS.map((target) => whole('GET', target, `host: ${host}`)),
    ...HOSTS.map((odd) => whole('GET', '/', `host: ${odd}`)),
    ...METHODS.map((method) => whole(method, '//', `host: ${host}`)),
    ...HEADERS.map((header) => whole('GET', '/', `host: ${host}`, header)),
    ...HEADERS.map((header) => whole('POST', '/api/runs/x/actions', `host: ${host}`, 'x-belay: 1', header)),
    'GET / HTTP/1.0\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    'no http at all\r\n\r\n',
    '\u0000\u0001\u0002',
    `GET / HTTP/1.1\r\nhost: ${host}`,
  ]
}

/** Sends each of them to a port of this machine, and waits until it was answered or its connection ended. */
export async function sendAll(port: number, requests: readonly string[]): Promise<void> {
  for (const request of requests) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      socket.on('data', () => socket.destroy())
      // What is cut short would be waited for.
      socket.setTimeout(300, () => socket.destroy())
      socket.write(Buffer.from(request, 'latin1'))
    })
  }
}
