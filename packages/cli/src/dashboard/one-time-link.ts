import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Lets in whoever opens the printed address first, and nobody else: the token in it works once and becomes a cookie. A request that names another host is
 * refused, so that no other site’s name can be made to lead here.
 */
export class OneTimeLink {
  readonly #session = randomBytes(32).toString('base64url')
  #token: string | undefined = randomBytes(24).toString('base64url')
  #hosts: readonly string[] = []
  #cookie = 'belay'
  #url = ''

  at(port: number): void {
    // A browser sends the cookies of all ports: each dashboard has a name of its own.
    this.#cookie = `belay-${port}`
    this.#hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
    this.#url = `http://127.0.0.1:${port}/?token=${this.#token}`
  }

  get url(): string {
    return this.#url
  }

  /** Whether a request with this cookie header is of the browser that was let in. */
  isOpen(cookies: string | null): boolean {
    const own = (cookies ?? '').split(/;\s*/).find((pair) => pair.startsWith(`${this.#cookie}=`))
    return own !== undefined && isSame(own.slice(this.#cookie.length + 1), this.#session)
  }

  /** Answers a request with the token, and one for another host. Returns whether it did. */
  answers(request: IncomingMessage, response: ServerResponse): boolean {
    if (!this.#hosts.includes(request.headers.host ?? '')) {
      response.writeHead(421, { 'content-type': 'text/plain' }).end('This address is for 127.0.0.1 alone.\n')
      return true
    }
    // Not by URL(): a target may have any form, and `//` is none that it takes.
    const token = new URLSearchParams(/\?(.*)/s.exec(request.url ?? '')?.[1] ?? '').get('token')
    if (token === null || this.isOpen(request.headers.cookie ?? null)) return false
    if (this.#token === undefined || !isSame(token, this.#token)) {
      response
        .writeHead(401, { 'content-type': 'text/plain', 'cache-control': 'no-store' })
        .end('This address was opened already, and works once. Start belay dashboard again.\n')
      return true
    }
    this.#token = undefined
    response
      .writeHead(303, {
        location: '/',
        'set-cookie': `${this.#cookie}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`,
        'cache-control': 'no-store',
      })
      .end()
    return true
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
