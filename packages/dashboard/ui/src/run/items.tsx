import { drawHeat, type ItemStates, type StepStatus, type ViewItems } from '@belay/graph-view'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ItemStatesPage, ItemsPage } from '../../../src/api.ts'
import { elementOf } from '../drawn.tsx'
import { Status } from '../glyph.tsx'
import { wordOf } from '../status.ts'
import { counted, figure } from '../words.ts'
import { HeatStrip } from './heat-strip.tsx'
import { useOnce } from './use-once.tsx'
import { useWidth } from './use-width.ts'

interface ItemsProps {
  readonly runId: string
  readonly map: string
  readonly items: ViewItems
}

/** Which items are listed: those that failed, or those from an index on. */
interface Listed {
  readonly failing: boolean
  readonly after?: number | undefined
  /** A cell of the strip was opened: the focus goes where its item stands. */
  readonly isOpened?: boolean
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
          onChosen={(index) =>
            setListed({ failing: false, after: index === 0 ? undefined : index - 1, isOpened: true })
          }
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
export function countsOf({ total, ended, statuses }: ViewItems): string {
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
  items,
  known,
  onChosen,
}: ItemsProps & { readonly known: ItemStates | undefined; readonly onChosen: (index: number) => void }) {
  const path = `runs/${runId}/items/states?map=${encodeURIComponent(map)}`
  const { data, told } = useOnce<ItemStatesPage>(path, items, known === undefined)
  const states = known ?? data?.states
  const [host, width] = useWidth()
  const drawing = useMemo(() => states && drawHeat(states, { width: Math.min(width, 960) }), [states, width])
  return (
    <div ref={host}>
      {drawing && <HeatStrip {...{ map, drawing, onChosen }} keyOf={(index) => items.some[index]?.key} />}
      <p class="heat-legend weak">
        {LOUD_FIRST.filter((status) => items.statuses[status]).map((status) => (
          <span key={status}>
            <Cell status={status} /> {wordOf(status).toLowerCase()}
          </span>
        ))}
      </p>
      {known === undefined && told}
    </div>
  )
}

/** How the strip draws a state. */
function Cell({ status }: { readonly status: StepStatus }) {
  const { width, height, shapes } = drawHeat([[status, 1]], { width: 10 })
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
      {shapes.map(elementOf)}
    </svg>
  )
}

function List({
  runId,
  map,
  items,
  listed: { failing, after, isOpened },
  onListed,
}: ItemsProps & { readonly listed: Listed; readonly onListed: (listed: Listed) => void }) {
  const from = after === undefined ? '' : `&after=${after}`
  const path = `runs/${runId}/items?map=${encodeURIComponent(map)}${from}${failing ? '&failing=true' : ''}`
  const { data, told } = useOnce<ItemsPage>(path, items)
  const last = data?.items.at(-1)
  const host = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (isOpened === true) host.current?.focus()
  }, [path])
  return (
    <>
      {told}
      <ul
        ref={host}
        tabIndex={-1}
        class="item-list"
        aria-label={failing ? `Failed items of ${map}` : `Items of ${map}`}
      >
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
