import type { ComponentChildren } from 'preact'
import { Link } from 'wouter'
import type { NeedsPage } from '../../../src/api/needs.ts'
import type { ParkedPage } from '../../../src/api/parked.ts'
import type { Wait, WaitingPage } from '../../../src/api/waiting.ts'
import type { Capped, Overview } from '../../../src/api.ts'
import { Answer, Blank } from '../answer.tsx'
import { Glyph } from '../glyph.tsx'
import { Head } from '../head.tsx'
import { Findings } from '../health/findings.tsx'
import { useLive } from '../live.ts'
import { zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { isPressing } from '../waiting/waiting.tsx'
import { capped, counted, figure, instant, span } from '../words.ts'

const NONE: Capped = { count: 0, capped: false }

/** All that only a person can end, the most pressing first, each with the way to end it. */
export function Needs() {
  useCell(zone)
  const parked = useLive<ParkedPage>('parked')
  const waiting = useLive<WaitingPage>('waiting')
  const needs = useLive<NeedsPage>('needs')
  const stopped = useLive<Overview>('overview').data?.liveRuns['parked'] ?? NONE
  return (
    <>
      <Head title="Needs a person">
        Nobody goes on with these until somebody decides: undos and steps that failed for good, decisions, and
        what the doctor finds.
      </Head>
      <Answer of={parked}>
        {(inbox: ParkedPage) => (
          <Answer of={waiting}>
            {(waits: WaitingPage) => (
              <Answer of={needs}>{(page: NeedsPage) => <All {...{ inbox, waits, stopped, page }} />}</Answer>
            )}
          </Answer>
        )}
      </Answer>
    </>
  )
}

function All({
  inbox,
  waits,
  stopped,
  page: { findings, readAt },
}: {
  readonly inbox: ParkedPage
  readonly waits: WaitingPage
  /** Runs that are parked going forward. */
  readonly stopped: Capped
  readonly page: NeedsPage
}) {
  const asked = askedOf(waits)
  if (inbox.groups.length + stopped.count + asked.length + findings.length === 0) return <Nobody />
  return (
    <>
      <ul class="findings">
        <Parked page={inbox} />
        {stopped.count > 0 && <Stopped runs={stopped} />}
        {asked.map((same) => (
          <Asked key={`${same[0].kind} ${same[0].workflow} ${same[0].step}`} waits={same} now={readAt} />
        ))}
      </ul>
      {findings.length > 0 && <Findings findings={findings} now={readAt} />}
    </>
  )
}

function Nobody() {
  return (
    <Blank state="completed" title="Nothing needs a person">
      <p>No undo is parked, nothing waits for a decision, and the doctor finds nothing.</p>
    </Blank>
  )
}

function Parked({ page: { groups, readAt } }: { readonly page: ParkedPage }) {
  return (
    <>
      {groups.map(({ workflow, version, step, error, undos, since, remain }) => (
        <Need
          key={`${workflow} ${version} ${step} ${error}`}
          state="parked"
          to="/rollbacks"
          go="Open the inbox"
          said={`The undo of “${step}” in ${workflow} v${version} failed for good ${undos === 1 ? 'once' : `${figure(undos)} times`}: ${error}`}
          more={`${counted(remain, 'effect')} still in the world, since ${instant(since, readAt)}.`}
        />
      ))}
    </>
  )
}

/** Runs that cannot go back any more, and cannot go on. */
function Stopped({ runs }: { readonly runs: Capped }) {
  const subject = runs.count === 1 && !runs.capped ? '1 run stands' : `${capped(runs)} runs stand`
  return (
    <Need
      state="parked"
      to="/runs?status=parked"
      go="Show the runs"
      said={`${subject} still: a step failed for good after the point of no return.`}
      more="Retry the step, or skip it."
    />
  )
}

type Same = readonly [Wait, ...Wait[]]

/** Decisions, and signals whose time is nearly over, by workflow and step, in the order of their first. */
function askedOf({ waits, readAt }: WaitingPage): readonly Same[] {
  const byStep = new Map<string, Same>()
  for (const wait of waits) {
    if (wait.kind === 'signal' && !isPressing(wait, readAt)) continue
    const key = `${wait.kind} ${wait.workflow} ${wait.step}`
    byStep.set(key, [...(byStep.get(key) ?? []), wait] as unknown as Same)
  }
  return [...byStep.values()]
}

function Asked({ waits, now }: { readonly waits: Same; readonly now: number }) {
  const [{ kind, workflow, step, until }] = waits
  const oldest = Math.min(...waits.map(({ since }) => since))
  const runs = counted(waits.length, 'run')
  const limit = until === undefined ? '' : ` The nearest time limit is in ${span(Math.max(0, until - now))}.`
  return (
    <Need
      state="waiting"
      to={`/waiting?${new URLSearchParams({ kind, workflow })}`}
      go={kind === 'approval' ? 'Decide' : 'See who waits'}
      said={`“${step}” of ${workflow} waits for ${kind === 'approval' ? 'a decision' : 'a signal'} in ${runs}.`}
      more={`The first since ${instant(oldest, now)}.${limit}`}
    />
  )
}

interface NeedProps {
  readonly state: 'parked' | 'waiting'
  readonly said: string
  readonly more: ComponentChildren
  readonly to: string
  readonly go: string
}

function Need({ state, said, more, to, go }: NeedProps) {
  return (
    <li>
      <Glyph state={state} label={state === 'parked' ? 'Parked' : 'Waits'} />
      <div>
        <p class="said">{said}</p>
        <p class="remedy">{more}</p>
      </div>
      <div class="helps">
        <Link class="button" href={to}>
          {go}
        </Link>
      </div>
    </li>
  )
}
