import { glyphOf } from '@belay/graph-view'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { OfferedHere, RunPage } from '../../../src/api.ts'
import { Answer } from '../answer.tsx'
import { CompareDialog } from '../compare/ask.tsx'
import { Facts } from '../facts.tsx'
import { Status } from '../glyph.tsx'
import { zone } from '../settings.ts'
import { pageWithTimes } from '../shell/times.ts'
import { useCell } from '../stored.ts'
import { fullInstant, instant, nameOf, span } from '../words.ts'
import { ActionDialog } from './action-dialog.tsx'
import { Family } from './children.tsx'
import { GraphTab } from './graph-tab.tsx'
import { HistoryTab } from './history-tab.tsx'
import { ItemsTab } from './items-tab.tsx'
import { PayloadsTab } from './payloads-tab.tsx'
import { RowsTab } from './rows-tab.tsx'
import { StepsTab } from './steps-tab.tsx'
import { ActButton, type TabProps } from './tab.tsx'
import { TimelineTab } from './timeline-tab.tsx'
import { useRun } from './use-run.ts'

const TABS = {
  timeline: ['Timeline', TimelineTab],
  graph: ['Graph', GraphTab],
  steps: ['Steps', StepsTab],
  items: ['Items', ItemsTab],
  history: ['History', HistoryTab],
  payloads: ['Payloads', PayloadsTab],
  rows: ['Rows', RowsTab],
} as const

type TabName = keyof typeof TABS

/** `/runs/:name/:tab?` */
export function RunScreen({ name, tab }: { readonly name: string; readonly tab: string | undefined }) {
  const run = useRun(name)
  const shown = tab !== undefined && tab in TABS ? (tab as TabName) : 'timeline'
  useCell(zone)
  return (
    <Answer of={run}>
      {(page: RunPage) => <Screen name={name} page={pageWithTimes(page)} tab={shown} />}
    </Answer>
  )
}

function Screen({
  name,
  page,
  tab,
}: {
  readonly name: string
  readonly page: RunPage
  readonly tab: TabName
}) {
  const [action, setAction] = useState<OfferedHere>()
  const { run } = page
  const Tab = TABS[tab][1]
  return (
    <article class="run">
      <Header page={page} act={setAction} />
      <Family page={page} />
      <nav class="tabs" aria-label="Views of this run">
        {tabsOf(page).map((each) => (
          <Link
            key={each}
            href={`/runs/${encodeURIComponent(name)}/${each}`}
            replace
            aria-current={each === tab ? 'page' : undefined}
          >
            {TABS[each][0]}
            {each === 'steps' && <span class="weak"> {page.run.steps.length}</span>}
          </Link>
        ))}
      </nav>
      <Tab page={page} act={setAction} />
      {action && (
        <ActionDialog
          action={action}
          runId={run.id}
          about={`${nameOf(run)}, ${run.workflow} v${run.version}`}
          onClose={() => setAction(undefined)}
        />
      )}
    </article>
  )
}

/** Only runs with maps or loops have items. */
function tabsOf({ run: { steps } }: RunPage): readonly TabName[] {
  const has = steps.some(({ items }) => items !== undefined)
  return (Object.keys(TABS) as TabName[]).filter((each) => each !== 'items' || has)
}

function Header({ page, act }: TabProps) {
  const { run, why, open } = page
  const [isCompared, compare] = useState(false)
  const needed = open.find(({ actions }) => actions.length > 0)
  const first = needed?.actions ?? []
  const rest = page.actions.filter(
    ({ verb, step }) => !first.some((one) => one.verb === verb && one.step === step),
  )
  return (
    <header class="run-head">
      <div class="run-title">
        <span class={`badge s-${glyphOf(run.status)}`}>
          <Status status={run.status} />
        </span>
        <h1>{nameOf(run)}</h1>
        <span class="weak">
          {run.workflow} v{run.version}
        </span>
        <code class="weak" title={run.id}>
          {run.id.slice(0, 13)}…
        </code>
        <div class="run-actions row">
          {[...first, ...rest].map((each, index) => (
            <ActButton
              key={`${each.verb}${each.step}`}
              action={each}
              act={act}
              isMain={index === 0 && first.length > 0}
            />
          ))}
          <button type="button" class="button" onClick={() => compare(true)}>
            Compare…
          </button>
        </div>
        {isCompared && <CompareDialog run={run} onClose={() => compare(false)} />}
      </div>
      <p class="run-why" aria-live="polite">
        {why}
      </p>
      {needed && needed.sentence !== why && <p class="run-more">{needed.sentence}</p>}
      <RunFacts page={page} />
    </header>
  )
}

function RunFacts({ page }: Pick<TabProps, 'page'>) {
  const { run, effects } = page
  const now = run.readAt
  const facts: (readonly [string, ComponentChildren])[] = [
    ['Started', <time title={fullInstant(run.createdAt)}>{instant(run.createdAt, now)}</time>],
    [
      run.finishedAt === undefined ? 'For' : 'Took',
      span((run.finishedAt ?? now) - (run.startAt ?? run.createdAt)),
    ],
    ...(run.rounds > 1 ? [['Round', String(run.rounds)] as const] : []),
    ...(run.stoppedAt === undefined
      ? []
      : [
          [
            'Stopped',
            `${instant(run.stoppedAt, now)}${run.cause?.step ? ` by ${run.cause.step}` : ''}`,
          ] as const,
        ]),
    ...(effects.undone + effects.remain + effects.kept + effects.unknown === 0
      ? []
      : [['Effects', <Effects effects={effects} />] as const]),
    ...(page.tags.length === 0 ? [] : [['Tags', page.tags.join(', ')] as const]),
  ]
  return <Facts facts={facts} />
}

function Effects({ effects: { undone, remain, kept, unknown } }: { readonly effects: RunPage['effects'] }) {
  return (
    <>
      {undone} undone, <span class={remain > 0 ? 's-parked strong' : ''}>{remain} remain</span>
      {kept > 0 && `, ${kept} kept`}
      {unknown > 0 && `, ${unknown} unknown`}
    </>
  )
}
