import { ApiError, BASE } from './api.ts'

/** Posts to `<base>api/<path>`. The header shows the server that a page of its own asks, and no form of another site. Throws an `ApiError`. */
export async function write<T>(path: string, body: unknown): Promise<T> {
  const response = await fetch(`${BASE}api/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-belay': '1' },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json().catch(() => undefined)
  if (response.ok) return answer as T
  const { code = 'unreadable', message = `The server answered ${response.status}.` } = Object(answer) as {
    code?: string
    message?: string
  }
  throw new ApiError(response.status, { code, message })
}
