import type { ViewItems } from '@belay/graph-view'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { read } from '../api.ts'
import { paused } from '../settings.ts'
import { useCell } from '../stored.ts'

/** Reading as many items as these costs no more than the run's page does. */
const LIVE_MAX = 1_000
const EVERY_MS = 3_000

/**
 * What `GET <path>` answers. Of a small map it is read again while the page is; of a large one it is read once: passing through 65,536 items takes seconds.
 * Once the counts have changed, there is a button to read it again. `told`: that button, an error, or that it is being read.
 */
export function useOnce<T>(path: string, { statuses, total }: ViewItems, enabled = true) {
  const counts = JSON.stringify(statuses)
  const isLive = total <= LIVE_MAX
  const isPaused = useCell(paused)
  const { data, error, isFetching, refetch } = useQuery<
    { readonly answer: T; readonly counts: string },
    Error
  >({
    queryKey: [path],
    queryFn: async ({ signal }) => ({ answer: await read<T>(path, signal), counts }),
    enabled,
    staleTime: isLive ? 1_000 : Number.POSITIVE_INFINITY,
    refetchInterval: isLive && !isPaused ? EVERY_MS : false,
    placeholderData: keepPreviousData,
  })
  const again = (
    <button type="button" class="button" onClick={() => void refetch()}>
      Items have changed: read them again
    </button>
  )
  const told =
    error !== null ? (
      <p class="s-failed">{error.message}</p>
    ) : isFetching && (!isLive || data === undefined) ? (
      <p class="weak">Reading the items…</p>
    ) : data !== undefined && !isLive && data.counts !== counts ? (
      again
    ) : null
  return { data: data?.answer, told }
}
