import { RequestError } from './problem.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** The same answer with the headers that every answer has. One that may be kept says so itself. */
export function secured(response: Response): Response {
  const { status, body } = response
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(HEADERS)) {
    if (name !== 'cache-control' || !headers.has(name)) headers.set(name, value)
  }
  return new Response(body, { status, headers })
}

export const BODY_MAX_BYTES = 65_536

/** The body of a write, once it is known that the dashboard's own page sent it. Throws `RequestError`. */
export async function bodyOfWrite(request: Request): Promise<unknown> {
  assertOwnPage(request)
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') {
    throw new RequestError(415, 'bad_request', 'Send JSON, with content-type: application/json.')
  }
  const text = await boundedText(request)
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestError(400, 'bad_request', 'The body is not JSON.')
  }
}

/** A browser sets `sec-fetch-site` itself, and knows the origin also behind a proxy that ends TLS. Older ones send only `origin`. */
function assertOwnPage({ url, headers }: Request): void {
  if (headers.get('x-belay') !== '1') {
    throw new RequestError(403, 'forbidden', 'Writes need the header x-belay: 1.')
  }
  const site = headers.get('sec-fetch-site')
  const isOwn = site === null ? headers.get('origin') === new URL(url).origin : site === 'same-origin'
  if (isOwn) return
  const message =
    'Writes are taken from the page of the dashboard itself: send its own address as origin, or sec-fetch-site: same-origin.'
  throw new RequestError(403, 'forbidden', message)
}

async function boundedText(request: Request): Promise<string> {
  const tooLarge = () =>
    new RequestError(413, 'too_large', `The body is larger than ${BODY_MAX_BYTES / 1024} KiB.`)
  if (Number(request.headers.get('content-length')) > BODY_MAX_BYTES) throw tooLarge()
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  const reader = request.body?.getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    size += part.value.byteLength
    if (size > BODY_MAX_BYTES) {
      await reader?.cancel()
      throw tooLarge()
    }
    text += decoder.decode(part.value, { stream: true })
  }
  return text + decoder.decode()
}
