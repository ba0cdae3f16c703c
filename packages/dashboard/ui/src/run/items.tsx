import { drawHeat, type ItemStates, type StepStatus, type ViewItems } from '@belay/graph-view'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'preact/hooks'
import type { ItemStatesPage, ItemsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { Status } from '../glyph.tsx'
import { wordOf } from '../status.ts'
import { counted, figure } from '../words.ts'
import { HeatStrip } from './heat-strip.tsx'

interface ItemsProps {
  readonly runId: string
  readonly map: string
  readonly items: ViewItems
}

/** Which items are listed: those that failed, or those from an index on. */
interface Listed {
  readonly failing: boolean
  readonly after?: number | undefined
}

/** The items of a map: how many are in which state, a strip of all of them, and on request each with its error, the failed ones first. */
export function Items({ runId, map, items }: ItemsProps) {
  const { total, statuses } = items
  const [isOpen, setOpen] = useState(false)
  const [listed, setListed] = useState<Listed>()
  const known = useMemo(() => knownStates(items), [items])
  const failing = (statuses.failed ?? 0) + (statuses.compensation_failed ?? 0)
  const list = (next: Listed) => () => setListed(next)
  return (
    <div class="items">
      <p>{countsOf(items)}</p>
      {total > 0 && (known ?? isOpen) && (
        <Strip
          {...{ runId, map, items, known }}
          onChosen={(index) => setListed({ failing: false, after: index === 0 ? undefined : index - 1 })}
        />
      )}
      <div class="row">
        {known === undefined && !isOpen && (
          <button type="button" class="button" onClick={() => setOpen(true)}>
            Show all {figure(total)} items
          </button>
        )}
        {failing > 0 && (
          <button type="button" class="button" onClick={list({ failing: true })}>
            List the {figure(failing)} that failed
          </button>
        )}
        {total > 0 && (
          <button type="button" class="button" onClick={list({ failing: false })}>
            List all
          </button>
        )}
      </div>
      {listed && <List {...{ runId, map, items, listed }} onListed={setListed} />}
    </div>
  )
}

/** `12 of 20 items ended: 2 failed, 10 completed`, the loudest first. */
function countsOf({ total, ended, statuses }: ViewItems): string {
  const counts = LOUD_FIRST.flatMap((status) =>
    statuses[status] ? `${figure(statuses[status])} ${wordOf(status).toLowerCase()}` : [],
  )
  const parts = counts.length === 0 ? '' : `: ${counts.join(', ')}`
  return `${figure(ended)} of ${counted(total, 'item')} ended${parts}`
}

const LOUD_FIRST: readonly StepStatus[] = [
  ...(['compensation_failed', 'failed', 'compensating', 'running', 'waiting', 'ready'] as const),
  ...(['pending', 'compensated', 'cancelled', 'completed', 'skipped'] as const),
]

/** Of a small map the page has all items. */
function knownStates({ total, some }: ViewItems): ItemStates | undefined {
  return some.length < total ? undefined : some.map(({ status }) => [status, 1])
}

/** Of a large one they are asked for. */
function Strip({
  runId,
  map,
  items: { statuses },
  known,
  onChosen,
}: ItemsProps & { readonly known: ItemStates | undefined; readonly onChosen: (index: number) => void }) {
  const path = `runs/${runId}/items/states?map=${encodeURIComponent(map)}`
  const { data, told } = useOnce<ItemStatesPage>(path, statuses, known === undefined)
  const states = known ?? data?.states
  const drawing = useMemo(() => states && drawHeat(states, { width: 320 }), [states])
  return (
    <>
      {drawing && <HeatStrip map={map} drawing={drawing} onChosen={onChosen} />}
      {known === undefined && told}
    </>
  )
}

/**
 * What `GET <path>` answers, read once: passing through 65,536 items takes seconds and is not repeated every two of them. Once the counts have changed, there
 * is a button to read it again. `told`: that button, an error, or that it is being read.
 */
function useOnce<T>(path: string, statuses: ViewItems['statuses'], enabled = true) {
  const counts = JSON.stringify(statuses)
  const { data, error, isFetching, refetch } = useQuery<
    { readonly answer: T; readonly counts: string },
    Error
  >({
    queryKey: [path],
    queryFn: async ({ signal }) => ({ answer: await read<T>(path, signal), counts }),
    enabled,
    staleTime: Number.POSITIVE_INFINITY,
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
    ) : isFetching ? (
      <p class="weak">Reading the items…</p>
    ) : data !== undefined && data.counts !== counts ? (
      again
    ) : null
  return { data: data?.answer, told }
}

function List({
  runId,
  map,
  items: { statuses },
  listed: { failing, after },
  onListed,
}: ItemsProps & { readonly listed: Listed; readonly onListed: (listed: Listed) => void }) {
  const from = after === undefined ? '' : `&after=${after}`
  const path = `runs/${runId}/items?map=${encodeURIComponent(map)}${from}${failing ? '&failing=true' : ''}`
  const { data, told } = useOnce<ItemsPage>(path, statuses)
  const last = data?.items.at(-1)
  return (
    <>
      {told}
      <ul class="item-list" aria-label={failing ? `Failed items of ${map}` : `Items of ${map}`}>
        {data?.items.map((item) => (
          <li key={item.index}>
            <Status status={item.status} /> {item.key} <span class="weak">item {figure(item.index + 1)}</span>
            {item.error && <p class="s-failed">{item.error}</p>}
            {item.undo?.error && <p class="s-undoing">Undo: {item.undo.error}</p>}
          </li>
        ))}
      </ul>
      {data?.more && last && (
        <button type="button" class="button" onClick={() => onListed({ failing, after: last.index })}>
          Next items
        </button>
      )}
    </>
  )
}
