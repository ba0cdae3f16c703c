import { QueryClient, useQuery } from '@tanstack/react-query'
import { ApiError, isForbidden, isNotFound, read, unreachable } from './api.ts'
import { paused } from './settings.ts'
import { useCell } from './stored.ts'

const EVERY_MS = 2_000

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 1_000,
      refetchOnWindowFocus: () => !paused.get(),
      // Its own server may well be reached while the browser has no network.
      networkMode: 'always',
    },
  },
})

/**
 * What `GET <path>` answers, read again every two seconds while the tab is visible and not paused. The last answer stays while a newer one fails.
 * `fetched` stands in for the plain read.
 */
export function useLive<T>(path: string, fetched?: (signal: AbortSignal) => Promise<T>) {
  const stopped = useCell(paused)
  return useQuery<T, Error>({
    queryKey: [path],
    queryFn: ({ signal }) => (fetched ? fetched(signal) : read<T>(path, signal)),
    refetchInterval: ({ state: { error } }) =>
      stopped || isForbidden(error) || isNotFound(error) ? false : EVERY_MS,
  })
}

/** Two missed answers: a server that takes a question and keeps silent is no better than one that refuses it. */
const SILENT_MS = 2 * EVERY_MS

let wasSilent = false

/** The answer of `GET <path>`, which is light, or an error once it is overdue. After a silence everything is asked for anew: older questions may be lost. */
export async function beat<T>(path: string, signal: AbortSignal): Promise<T> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), SILENT_MS)
  try {
    const answer = await read<T>(path, AbortSignal.any([signal, limit.signal]))
    if (wasSilent) void client.invalidateQueries({ predicate: ({ queryKey: [key] }) => key !== path })
    wasSilent = false
    return answer
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error
    wasSilent = true
    throw unreachable()
  } finally {
    clearTimeout(timer)
  }
}

/** The store or its server does not answer: what is shown is the past. */
export function isDown(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500)
}
