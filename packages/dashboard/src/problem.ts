import { BelayError } from '@belay/workflow'
import type { Problem } from './api.ts'

/** An answer that is no success: thrown by routes. */
export class RequestError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

export function badRequest(message: string): RequestError {
  return new RequestError(400, 'bad_request', message)
}

export function notFound(message: string): RequestError {
  return new RequestError(404, 'not_found', message)
}

export function notAllowed(...allowed: readonly string[]): RequestError {
  const allow = allowed.join(', ')
  return new RequestError(405, 'bad_request', `This address takes ${allow} only.`, { allow })
}

/** The answer to an error. What was not foreseen is logged and not told, because it may name hosts, rows or payloads. */
export function problemResponse(error: unknown): Response {
  const { status, code, message, headers } = toldOf(error)
  const body: Problem = { code, message }
  return Response.json(body, { status, headers })
}

/** What may be told of it. */
export function toldOf(error: unknown): Pick<RequestError, 'status' | 'code' | 'message' | 'headers'> {
  if (error instanceof RequestError) return error
  if (BelayError.is(error)) {
    const { code, message } = error
    if (TOLD[code] !== undefined) return new RequestError(TOLD[code], code, withoutCredentials(message))
    if (UNAVAILABLE.has(code)) {
      console.error('The dashboard cannot use the store:', error)
      return new RequestError(
        503,
        'store_unavailable',
        'The store cannot be used now; the log of the dashboard says why. Try again in a moment.',
      )
    }
  }
  console.error('The dashboard failed to answer a request:', error)
  const what = 'The dashboard failed to answer. Its log says why.'
  return new RequestError(500, 'internal_error', what)
}

const TOLD: Readonly<Partial<Record<BelayError['code'], number>>> = {
  unknown_run: 404,
  unknown_workflow: 404,
  unknown_schedule: 404,
  invalid_option: 400,
  invalid_input: 400,
  payload_unserialisable: 400,
  payload_too_large: 400,
  action_refused: 409,
  decision_conflict: 409,
  key_conflict: 409,
}

const UNAVAILABLE: ReadonlySet<string> = new Set([
  'store_unavailable',
  'store_contended',
  'store_misconfigured',
  'schema_missing',
  'schema_outdated',
  'schema_too_new',
  'engine_closed',
])

/** Addresses in texts of the engine keep their host and lose user and password. */
export function withoutCredentials(text: string): string {
  return text.replaceAll(/(\w+:\/\/)[^\s/@]*@/g, '$1…@')
}
