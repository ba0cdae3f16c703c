import type { Problem } from '../../src/api.ts'

/** The base path, with a slash at its end. The script stands directly below it. */
export const BASE = new URL('.', import.meta.url).pathname

/** An answer that is no success, or none at all. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, { code, message }: Problem) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** Nobody is signed in, or this viewer may not read. Asking again does not help. */
export function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 401 || error.status === 403)
}

export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404
}

/** What was asked for is not understood: the message says why. */
export function isBadRequest(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 400
}

/** The answer of `GET <base>api/<path>`. Throws an `ApiError`. */
export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await answerOf(`${BASE}api/${path}`, signal)
  if (!response.ok) throw new ApiError(response.status, await problemOf(response))
  return (await response.json()) as T
}

async function answerOf(url: string, signal?: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, { ...(signal && { signal }), headers: { accept: 'application/json' } })
  } catch (error) {
    if (signal?.aborted) throw error
    throw unreachable()
  }
}

export function unreachable(): ApiError {
  return new ApiError(0, { code: 'unreachable', message: 'The dashboard’s server does not answer.' })
}

async function problemOf(response: Response): Promise<Problem> {
  const text = await response.text()
  try {
    return JSON.parse(text) as Problem
  } catch {
    // A proxy in between answers with a page of its own.
    return { code: 'unreadable', message: `The server answered ${response.status}, and did not say why.` }
  }
}
