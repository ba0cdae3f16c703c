import { useQuery } from '@tanstack/react-query'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { ListedRun, RunLink, RunPage, RunsPage } from '../../../src/api.ts'
import { read } from '../api.ts'
import { Status } from '../glyph.tsx'
import { Icon } from '../icons.tsx'
import { useLive } from '../live.ts'
import { withTimes } from '../shell/times.ts'
import { RUN_STATUSES, wordOf } from '../status.ts'
import { counted, figure, nameOf } from '../words.ts'

const ABOVE_MAX = 10
const SHOWN_MAX = 10
/** As many children as a run's page counts. */
const COUNTED_MAX = 100

/** The runs above this one, the run itself, and those that it started: a tree whose branches are read once they are opened. */
export function Family({ page: { run, parent, children } }: { readonly page: RunPage }) {
  const above = useAbove(parent)
  if (parent === undefined && children.length === 0) return null
  return (
    <div
      class="family"
      role="tree"
      aria-label="Runs above and below"
      onKeyDown={goOn}
      onFocusIn={(event) => stopAt(event.currentTarget, event.target)}
    >
      {above.map((each, index) => (
        <Item key={each.id} run={each} level={index + 1} />
      ))}
      <Item key={run.id} run={run} level={above.length + 1} mayOpen={children.length > 0} isOwn>
        {children.length > 0 && countsOf(children)}
      </Item>
    </div>
  )
}

const ITEM = '[role="treeitem"]'

/** Up and down through what is open, right into a branch, left to the run above. */
function goOn(event: KeyboardEvent & { readonly currentTarget: Element }): void {
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>(ITEM)]
  const from = items.indexOf(event.target as HTMLElement)
  const level = (item: Element | undefined) => Number(item?.getAttribute('aria-level') ?? 0)
  const own = level(items[from])
  const to = {
    ArrowDown: items[from + 1],
    ArrowUp: items[from - 1],
    ArrowRight: level(items[from + 1]) > own ? items[from + 1] : undefined,
    ArrowLeft: items.findLast((item, index) => index < from && level(item) < own),
    Home: items[0],
    End: items.at(-1),
  }[event.key]
  if (to === undefined) return
  event.preventDefault()
  event.stopPropagation()
  to.focus()
}

/** The tree is one tab stop: where the focus was last. */
function stopAt(tree: Element, target: EventTarget | null): void {
  for (const item of tree.querySelectorAll(ITEM)) item.setAttribute('tabindex', item === target ? '0' : '-1')
}

/** From the uppermost down to the parent. Those above the parent are read again when its status changes. */
function useAbove(parent: RunLink | undefined): readonly RunLink[] {
  const { data = [] } = useQuery({
    queryKey: ['above', parent?.id, parent?.status],
    queryFn: ({ signal }) => readAbove(parent!.id, signal),
    enabled: parent !== undefined,
  })
  return parent === undefined ? [] : [...data, parent]
}

async function readAbove(id: string, signal: AbortSignal): Promise<readonly RunLink[]> {
  const found: RunLink[] = []
  for (let next = id; found.length < ABOVE_MAX; next = found[0]!.id) {
    const { parent } = await read<RunPage>(`runs/${next}`, signal)
    if (parent === undefined) break
    found.unshift(parent)
  }
  return found
}

/** `12 runs: 9 completed, 2 running, 1 failed`, the most urgent first. */
function countsOf(children: readonly RunLink[]): string {
  const counts = RUN_STATUSES.flatMap((status) => {
    const count = children.filter((child) => child.status === status).length
    return count === 0 ? [] : [`${figure(count)} ${wordOf(status).toLowerCase()}`]
  })
  const all =
    children.length < COUNTED_MAX ? counted(children.length, 'run') : `Its newest ${COUNTED_MAX} runs`
  return `${all}: ${counts.join(', ')}`
}

interface ItemProps {
  readonly run: RunLink
  readonly level: number
  readonly mayOpen?: boolean
  /** It is the run of this page. */
  readonly isOwn?: boolean
  /** What is told beside its name. */
  readonly children?: ComponentChildren
}

function Item({ run, level, mayOpen = false, isOwn = false, children }: ItemProps) {
  const [isOpen, setOpen] = useState(false)
  const onKeyDown = (event: KeyboardEvent) => {
    const opens = { ArrowRight: true, ArrowLeft: false }[event.key]
    if (!mayOpen || opens === undefined || opens === isOpen) return
    event.preventDefault()
    event.stopPropagation()
    setOpen(opens)
  }
  const flip = (event: Event) => {
    event.preventDefault()
    setOpen(!isOpen)
  }
  return (
    <>
      <Link
        href={`/runs/${run.id}`}
        class={`member level-${Math.min(level, LEVELS_INDENTED)}`}
        role="treeitem"
        aria-level={level}
        aria-expanded={mayOpen ? isOpen : undefined}
        aria-current={isOwn ? 'true' : undefined}
        tabIndex={isOwn ? 0 : -1}
        onKeyDown={onKeyDown}
      >
        {/* The keyboard's way is → and ←. */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a part of the link, for the pointer. */}
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the arrows open and close. */}
        <span class={isOpen ? 'twig open' : 'twig'} onClick={mayOpen ? flip : undefined}>
          {mayOpen && <Icon name="right" />}
        </span>
        <Status status={run.status} /> <b>{nameOf(run)}</b> <span class="weak wide">{run.workflow}</span>{' '}
        <span class="cut-off weak">{children}</span>
      </Link>
      {isOpen && <Branch of={run.id} level={level + 1} />}
    </>
  )
}

const LEVELS_INDENTED = 8

/** The newest runs that a run started. */
function Branch({ of, level }: { readonly of: string; readonly level: number }) {
  const { data, error } = useLive<RunsPage>(`runs?parent=${of}&limit=${SHOWN_MAX}`)
  if (data === undefined) return <div class="weak">{error === null ? 'Reading…' : error.message}</div>
  if (data.runs.length === 0) return <div class="weak">It has started no run.</div>
  return (
    <>
      {data.runs.map((run) => (
        <Item key={run.id} run={run} level={level} mayOpen={mayStartRuns(run)}>
          {withTimes(run.why, data.readAt)}
        </Item>
      ))}
      {data.more && (
        <Link
          href={`/runs?parent=${of}`}
          class={`member level-${Math.min(level, LEVELS_INDENTED)}`}
          role="treeitem"
          aria-level={level}
          tabIndex={-1}
        >
          <span class="twig" />
          Show older ones in Runs
        </Link>
      )}
    </>
  )
}

function mayStartRuns({ steps }: ListedRun): boolean {
  return steps.some(({ kind }) => kind === 'child')
}
