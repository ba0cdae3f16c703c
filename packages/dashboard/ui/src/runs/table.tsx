import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Link } from 'wouter'
import type { ListedRun } from '../../../src/api.ts'
import { Status } from '../glyph.tsx'
import { useKeys } from '../keys.ts'
import { zone } from '../settings.ts'
import { withTimes } from '../shell/times.ts'
import { isQuiet } from '../status.ts'
import { useCell } from '../stored.ts'
import { Strip } from '../strip.tsx'
import { fullInstant, instant, nameOf, span } from '../words.ts'
import type { Selection } from './selection.tsx'
import type { Picture } from './settle.ts'

interface TableProps {
  readonly picture: Picture
  /** When it was read, by the store's clock. */
  readonly now: number
  readonly peeked: string | undefined
  readonly peek: (id: string | undefined) => void
  readonly selection: Selection
}

/** The link in each row has the focus, so Enter opens it without our help. */
export function Table({ picture: { runs, gone }, now, peeked, peek, selection }: TableProps) {
  const table = useRef<HTMLTableElement>(null)
  useCell(zone)
  useReturn(table)
  const move = (by: 1 | -1) => {
    const links = [...(table.current?.querySelectorAll<HTMLAnchorElement>('a[data-run]') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLAnchorElement)
    const next = links[at === -1 ? (by === 1 ? 0 : links.length - 1) : at + by]
    next?.focus()
    if (peeked !== undefined && next) peek(next.dataset['run'])
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const id = (document.activeElement as HTMLElement | null)?.dataset['run']
    if (event.key !== ' ' || id === undefined) return
    event.preventDefault()
    peek(id === peeked ? undefined : id)
  }
  const selectFocused = () => {
    const id = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a[data-run]')?.dataset[
      'run'
    ]
    if (id !== undefined) selection.flip([id])
  }
  useKeys({ j: () => move(1), k: () => move(-1), x: selectFocused })
  const ids = runs.map(({ id }) => id)
  const areAll = ids.every((id) => selection.ids.has(id))
  return (
    <table ref={table} class="runs" onKeyDown={onKeyDown}>
      <caption class="sr">Runs, the newest first</caption>
      <thead>
        <tr>
          <td class="w-select">
            <Box label="Select the runs of this page" isOn={areAll} flip={() => selection.flip(ids)} />
          </td>
          <th class="w-status">Status</th>
          <th class="w-run">Run</th>
          <th class="w-workflow">Workflow</th>
          <th class="w-strip">Steps</th>
          <th>Why</th>
          <th class="w-time">Started</th>
          <th class="w-span">Duration</th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <Row
            key={run.id}
            run={run}
            now={now}
            isGone={gone.has(run.id)}
            isPeeked={run.id === peeked}
            selection={selection}
          />
        ))}
      </tbody>
    </table>
  )
}

/** The label is the target: the box alone would be too small to touch. */
function Box({
  label,
  isOn,
  flip,
}: {
  readonly label: string
  readonly isOn: boolean
  readonly flip: () => void
}) {
  return (
    <label>
      <input type="checkbox" aria-label={label} checked={isOn} onChange={flip} />
    </label>
  )
}

/** The run from which a list was left, so that somebody who comes back goes on from there. */
let left: { readonly list: string; readonly run: string } | undefined

function useReturn(table: RefObject<HTMLTableElement | null>): void {
  useEffect(() => {
    const links = [...(table.current?.querySelectorAll<HTMLAnchorElement>('a[data-run]') ?? [])]
    if (left?.list === location.search && document.activeElement === document.body)
      links.find(({ dataset }) => dataset['run'] === left?.run)?.focus()
  }, [])
}

interface RowProps {
  readonly run: ListedRun
  readonly now: number
  readonly isGone: boolean
  readonly isPeeked: boolean
  readonly selection: Selection
}

function Row({ run, now, isGone, isPeeked, selection }: RowProps) {
  const quiet = isQuiet(run.status)
  const why = withTimes(run.why, now)
  const looks = [quiet && 'calm', isGone && 'gone', isPeeked && 'peeked'].filter(Boolean).join(' ')
  return (
    <tr class={looks}>
      <td class="w-select">
        <Box
          label={`Select ${nameOf(run)}`}
          isOn={selection.ids.has(run.id)}
          flip={() => selection.flip([run.id])}
        />
      </td>
      <td class="w-status">
        <Status status={run.status} />
      </td>
      <td class="w-run">
        <Link
          href={`/runs/${run.id}`}
          onClick={() => {
            left = { list: location.search, run: run.id }
          }}
          data-run={run.id}
          title={run.key === undefined ? run.id : run.key}
        >
          {nameOf(run)}
        </Link>
        {isGone && <span class="sr"> no longer matches the filter</span>}
      </td>
      <td class="w-workflow" title={run.workflow}>
        {run.workflow} <span class="weak">v{run.version}</span>
      </td>
      <td class="w-strip">
        <Strip steps={run.steps} quiet={quiet} />
      </td>
      <td class="why" title={why}>
        {why}
      </td>
      <td class="w-time">
        <time title={fullInstant(run.createdAt)}>{instant(run.createdAt, now)}</time>
      </td>
      <td class="w-span">{span((run.finishedAt ?? now) - run.createdAt)}</td>
    </tr>
  )
}
