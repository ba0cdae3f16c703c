import { useState } from 'preact/hooks'
import { Link, useSearch } from 'wouter'
import type { Wait, WaitingPage } from '../../../src/api/waiting.ts'
import type { OfferedHere } from '../../../src/api.ts'
import { Answer, Blank } from '../answer.tsx'
import { Head } from '../head.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { ActionDialog } from '../run/action-dialog.tsx'
import { ActButton } from '../run/tab.tsx'
import { type Selection, useSelection } from '../runs/selection.tsx'
import { zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { age, capped, counted, fullInstant, instant, nameOf, span } from '../words.ts'
import { About } from './decide.tsx'
import { DecideBar, keyOf, mayDecide } from './decide-bar.tsx'

const KINDS = { approval: 'Approvals', signal: 'Signals' } as const

/** Who waits for whom: decisions of people, and signals of other systems. */
export function Waiting() {
  const query = new URLSearchParams(useSearch())
  const [kind, workflow] = [query.get('kind'), query.get('workflow')]
  const page = useLive<WaitingPage>(
    workflow === null ? 'waiting' : `waiting?${new URLSearchParams({ workflow })}`,
  )
  return (
    <>
      <Head title="Waiting for somebody" aside={<Kinds page={page.data} kind={kind} workflow={workflow} />}>
        Decisions of people and signals of other systems, the nearest time limit first. A wait holds no
        worker, and may last for months.
      </Head>
      <Answer of={page}>
        {(answer: WaitingPage) => <Waits page={answer} kind={kind} workflow={workflow} />}
      </Answer>
    </>
  )
}

interface Chosen {
  readonly kind: string | null
  readonly workflow: string | null
}

function addressOf({ kind, workflow }: Chosen): string {
  const query = new URLSearchParams({ ...(kind && { kind }), ...(workflow && { workflow }) })
  return `/waiting${query.size === 0 ? '' : `?${query}`}`
}

/** Of each kind so many are read. */
const READ_MAX = 500

function Kinds({ page, kind, workflow }: Chosen & { readonly page: WaitingPage | undefined }) {
  const count = (one: string) => {
    const found = (page?.waits ?? []).filter((wait) => wait.kind === one).length
    return capped({ count: found, capped: page?.more === true && found === READ_MAX })
  }
  return (
    <nav class="views" aria-label="Kinds">
      <Link href={addressOf({ kind: null, workflow })} aria-current={kind === null ? 'true' : undefined}>
        All
      </Link>
      {Object.entries(KINDS).map(([one, name]) => (
        <Link
          key={one}
          href={addressOf({ kind: one, workflow })}
          aria-current={kind === one ? 'true' : undefined}
        >
          {name} {count(one)}
        </Link>
      ))}
    </nav>
  )
}

function Waits({ page, kind, workflow }: Chosen & { readonly page: WaitingPage }) {
  useCell(zone)
  const [acting, act] = useState<readonly [OfferedHere, Wait]>()
  const selection = useSelection()
  const waits = page.waits.filter((wait) => kind === null || wait.kind === kind)
  return (
    <>
      {workflow !== null && (
        <p>
          Only of {workflow}.{' '}
          <Link class="run-link" href={addressOf({ kind, workflow: null })}>
            Show those of all workflows
          </Link>
        </p>
      )}
      {waits.length === 0 ? (
        <Nothing kind={kind} />
      ) : (
        <WaitsTable
          {...{ waits, kind, selection }}
          now={page.readAt}
          act={(action, wait) => act([action, wait])}
        />
      )}
      <DecideBar waits={waits} selection={selection} />
      {page.more && (
        <p class="weak">
          These are the newest of each kind: there are more. Choose a workflow to see its own.
        </p>
      )}
      {acting && <One acting={acting} onClose={() => act(undefined)} />}
    </>
  )
}

function One({
  acting: [action, { runId, key, workflow, version }],
  onClose,
}: {
  readonly acting: readonly [OfferedHere, Wait]
  readonly onClose: () => void
}) {
  const about = `${nameOf({ id: runId, key })}, ${workflow} v${version}`
  return <ActionDialog action={action} runId={runId} about={about} onClose={onClose} />
}

function Nothing({ kind }: { readonly kind: string | null }) {
  const what =
    kind === 'signal'
      ? 'No run waits for a signal'
      : kind === null
        ? 'Nobody is waited for'
        : 'Nothing waits for a decision'
  return (
    <Blank state="completed" title={what}>
      <p>A step that waits stands here as soon as its run has come to it.</p>
    </Blank>
  )
}

type Act = (action: OfferedHere, wait: Wait) => void

interface RowsProps {
  readonly kind: string | null
  readonly now: number
  readonly act: Act
  readonly selection: Selection
}

function WaitsTable({ waits, ...rows }: RowsProps & { readonly waits: readonly Wait[] }) {
  return (
    <Lines
      caption={`${counted(waits.length, 'wait')}, the nearest time limit first`}
      columns={['Waits for', 'Run', 'Since', 'Until']}
      last="Actions"
      class="waits"
    >
      {waits.map((wait) => (
        <Row key={keyOf(wait)} wait={wait} {...rows} />
      ))}
    </Lines>
  )
}

function Row({ wait, kind, now, act, selection }: RowsProps & { readonly wait: Wait }) {
  const { runId, workflow, version, since } = wait
  return (
    <tr>
      <td>
        <Name wait={wait} selection={selection} />
        <div>
          <About wait={wait} />
        </div>
        <div class="weak">
          {wait.kind === 'approval' ? 'a decision' : 'a signal'} of{' '}
          <Link href={addressOf({ kind, workflow })}>{workflow}</Link> v{version}
        </div>
      </td>
      <td>
        <Link class="run-link" href={`/runs/${runId}`} title={runId}>
          {nameOf({ id: runId, key: wait.key })}
        </Link>
      </td>
      <td>
        <time title={fullInstant(since)}>{instant(since, now)}</time>
        <div class="weak">for {age(now - since)}</div>
      </td>
      <td>
        <Until wait={wait} now={now} />
      </td>
      <td class="last">
        <div class="row">
          {wait.actions.map((action) => (
            <ActButton key={action.verb} action={action} act={() => act(action, wait)} />
          ))}
        </div>
      </td>
    </tr>
  )
}

/** Its step, with a box if several may be decided together. */
function Name({ wait, selection }: Pick<RowsProps, 'selection'> & { readonly wait: Wait }) {
  const { step, runId, key } = wait
  if (!mayDecide(wait)) return <b>{step}</b>
  return (
    <label class="check">
      <input
        type="checkbox"
        aria-label={`Select ${step} of ${nameOf({ id: runId, key })}`}
        checked={selection.ids.has(keyOf(wait))}
        onChange={() => selection.flip([keyOf(wait)])}
      />
      <b>{step}</b>
    </label>
  )
}

/** Of the time that a wait has, how much may be left before it is pressing. */
const PRESSING = 0.1

/** What part of its time is used, 0 to 1; undefined if it has no limit. */
function usedOf({ since, until }: Wait, now: number): number | undefined {
  return until === undefined ? undefined : Math.min(1, Math.max(0, (now - since) / (until - since)))
}

export function isPressing(wait: Wait, now: number): boolean {
  return (usedOf(wait, now) ?? 0) > 1 - PRESSING
}

function Until({ wait, now }: { readonly wait: Wait; readonly now: number }) {
  const { until } = wait
  const used = usedOf(wait, now)
  if (until === undefined || used === undefined) return <span class="weak">no time limit</span>
  const isLate = isPressing(wait, now)
  return (
    <div class={isLate ? 's-failed' : undefined}>
      <time title={fullInstant(until)}>{instant(until, now)}</time>
      <div class={isLate ? undefined : 'weak'}>{until > now ? `in ${span(until - now)}` : 'now'}</div>
      <meter class="used" value={used} aria-label={`${Math.round(used * 100)} % of the time is used`} />
    </div>
  )
}
