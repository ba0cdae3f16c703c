import type { GlyphState } from '@belay/graph-view'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { Holds, UnservedVersion, Worker, WorkersPage } from '../../../src/api/workers.ts'
import { Answer, Blank } from '../answer.tsx'
import { Glyph, State } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { Icon } from '../icons.tsx'
import { Lines } from '../lines.tsx'
import { useLive } from '../live.ts'
import { zone } from '../settings.ts'
import { Slots } from '../slots.tsx'
import { useCell } from '../stored.ts'
import { age, counted, figure, fullInstant, instant, nameOf, span } from '../words.ts'
import { slotsWords } from './words.ts'

/** Who works, what each holds, and which runs nobody can execute. */
export function Workers() {
  const workers = useLive<WorkersPage>('workers')
  useCell(zone)
  return <Answer of={workers}>{(page: WorkersPage) => <Page page={page} />}</Answer>
}

function Page({ page: { counts, workers, unserved, readAt } }: { readonly page: WorkersPage }) {
  const all = counts.live + counts.expired + counts.dead
  return (
    <>
      <Head title={slotsWords(counts)}>
        A worker renews its lease every third of it. Whoever stops renewing loses its steps to the others.
      </Head>
      {unserved.length > 0 && (
        <ul class="findings unserved">
          {unserved.map((version) => (
            <Unserved key={`${version.workflow} ${version.version}`} version={version} now={readAt} />
          ))}
        </ul>
      )}
      {workers.length === 0 ? (
        <Blank state="pending" title="No worker is registered">
          <p>Start one, and runs go on. A worker that was stopped in order leaves no trace here.</p>
        </Blank>
      ) : (
        <Listed workers={workers} now={readAt} />
      )}
      {all > workers.length && (
        <p class="weak">
          and {figure(all - workers.length)}
          {counts.capped && ' or more'} others
        </p>
      )}
    </>
  )
}

function Unserved({ version: given, now }: { readonly version: UnservedVersion; readonly now: number }) {
  const { workflow, version, runs, oldest, remedy, query } = given
  return (
    <li>
      <Glyph state="ready" label="Nobody can run this version" />
      <div>
        <p class="said">
          No live worker has handlers for {workflow} v{version}: {counted(runs, 'run')}{' '}
          {runs === 1 ? 'waits' : 'wait'}, the oldest since{' '}
          <time title={fullInstant(oldest)}>{instant(oldest, now)}</time>.
        </p>
        <p class="remedy">{remedy}</p>
      </div>
      <div class="helps">
        <Link class="button" href={`/runs?${query}`}>
          Show its runs
        </Link>
        <Link class="run-link" href={`/versions/${encodeURIComponent(workflow)}`}>
          Its versions
        </Link>
      </div>
    </li>
  )
}

function Listed({ workers, now }: { readonly workers: readonly Worker[]; readonly now: number }) {
  return (
    <Lines
      caption="Workers, those that need a look first"
      columns={['State', 'Worker', 'Slots', 'Renewed', 'Lease left', 'Handlers for']}
      last="What it holds"
    >
      {workers.map((worker) => (
        <One key={worker.id} worker={worker} now={now} />
      ))}
    </Lines>
  )
}

const SHOWN = {
  live: ['completed', 'Live'],
  expired: ['waiting', 'Silent'],
  dead: ['failed', 'Dead'],
} as const satisfies Record<Worker['status'], readonly [GlyphState, string]>

const MEANS: Readonly<Record<Worker['status'], string | undefined>> = {
  live: undefined,
  expired:
    'It has stopped renewing its lease. A live worker takes over its steps within seconds; each of them counts one loss.',
  dead: 'Its steps are being returned to the queue. Then it goes from this list.',
}

function One({ worker, now }: { readonly worker: Worker; readonly now: number }) {
  const [isOpen, setOpen] = useState(false)
  const { id, name, host, status, slots, busy = 0, renewedAt, workflows } = worker
  const [state, word] = SHOWN[status]
  return (
    <>
      <tr>
        <td>
          <State state={state}>{word}</State>
        </td>
        <td class="wrap">
          <b>{name}</b> <span class="weak">{host}</span>
        </td>
        <td>{slots !== undefined && <Slots slots={slots} taken={busy} />}</td>
        <td data-label="Renewed">{renewedAt !== undefined && `${age(now - renewedAt)} ago`}</td>
        <td data-label="Lease">
          <Lease worker={worker} now={now} />
        </td>
        <td class="wrap weak" data-label="For">
          {workflows.join(', ')}
        </td>
        <td class="last">
          <button
            type="button"
            class="button"
            aria-expanded={isOpen}
            aria-label={`What ${name} holds`}
            onClick={() => setOpen(!isOpen)}
          >
            Holds
            <Icon name={isOpen ? 'up' : 'down'} />
          </button>
        </td>
      </tr>
      {(isOpen || MEANS[status]) && (
        <tr class="under">
          <td colSpan={7}>
            {MEANS[status] && <p>{MEANS[status]}</p>}
            {isOpen && <Held id={id} />}
          </td>
        </tr>
      )}
    </>
  )
}

function Lease({ worker: { leaseExpiresAt }, now }: { readonly worker: Worker; readonly now: number }) {
  if (leaseExpiresAt === undefined) return null
  const leftMs = leaseExpiresAt - now
  return leftMs > 0 ? <span>{age(leftMs)}</span> : <span class="loud s-failed">ended {age(-leftMs)} ago</span>
}

/** Read only while it is open. */
function Held({ id }: { readonly id: string }) {
  const holds = useLive<Holds>(`workers/${encodeURIComponent(id)}/holds`)
  return (
    <Answer of={holds} skeleton={<p class="weak">Reading…</p>}>
      {({ steps, more, readAt }: Holds) =>
        steps.length === 0 ? (
          <p class="weak">It holds no step.</p>
        ) : (
          <ul class="held">
            {steps.map(({ runId, key, workflow, version, step, isUndo, attempt, since }) => (
              <li key={`${runId} ${step}`}>
                <Link class="run-link" href={`/runs/${runId}`}>
                  {nameOf({ id: runId, key })}
                </Link>
                <span>
                  {workflow} v{version}
                </span>
                <span>
                  {isUndo && 'undo of '}
                  {step}
                </span>
                <span class="weak" title={fullInstant(since)}>
                  attempt {attempt}, for {span(Math.max(0, readAt - since))}
                </span>
              </li>
            ))}
            {more && <li class="weak">and more; these are held the longest</li>}
          </ul>
        )
      }
    </Answer>
  )
}
