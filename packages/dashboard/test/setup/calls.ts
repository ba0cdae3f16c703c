import { type Authorized, type DashboardHandler, type DashboardOptions, dashboard } from '../../src/index.ts'

export const ORIGIN = 'https://shop.example'

/** A dashboard whose viewer may do everything, unless `can` says less. */
export function opened(
  options: Pick<DashboardOptions, 'engine'> & Partial<DashboardOptions>,
  can: Authorized['can'] = 'all',
): DashboardHandler {
  return dashboard({ authorize: () => ({ by: 'ada', can }), ...options })
}

export async function get(
  handler: DashboardHandler,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  return handler(new Request(`${ORIGIN}/api/${path}`, init))
}

/** The JSON of a read that must succeed. */
export async function read<Answer>(handler: DashboardHandler, path: string): Promise<Answer> {
  const response = await get(handler, path)
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json() as Promise<Answer>
}

/** A write as the page sends it. A header that is null is left out. */
export async function post(
  handler: DashboardHandler,
  path: string,
  body: unknown,
  given: Readonly<Record<string, string | null>> = {},
): Promise<Response> {
  const all = { 'content-type': 'application/json', 'x-belay': '1', origin: ORIGIN, ...given }
  const headers = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as [string, string]],
  )
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return handler(new Request(`${ORIGIN}/api/${path}`, { method: 'POST', headers, body: text }))
}
