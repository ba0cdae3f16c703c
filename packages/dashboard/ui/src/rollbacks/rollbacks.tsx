import { useState } from 'preact/hooks'
import { Link } from 'wouter'
import type { ParkedGroup, ParkedPage } from '../../../src/api/parked.ts'
import { Answer, Blank } from '../answer.tsx'
import { Head } from '../head.tsx'
import { useLive } from '../live.ts'
import { ActionDialog } from '../run/action-dialog.tsx'
import { zone } from '../settings.ts'
import { useCell } from '../stored.ts'
import { capped, counted, figure, fullInstant, instant, nameOf } from '../words.ts'
import { type Act, Group } from './group.tsx'

/** One undo of a run, about which somebody wants to do something. */
type Acting = readonly [...Parameters<Act>, ParkedGroup]

/** Undos that failed for good, by their cause. */
export function Rollbacks() {
  const page = useLive<ParkedPage>('parked')
  const [acting, act] = useState<Acting>()
  useCell(zone)
  return (
    <>
      <Answer of={page}>
        {(answer: ParkedPage) =>
          answer.runs.count === 0 ? <Nothing page={answer} /> : <Groups page={answer} act={act} />
        }
      </Answer>
      {/* It stays while the list beneath it goes on. */}
      {acting && <One acting={acting} onClose={() => act(undefined)} />}
    </>
  )
}

function One({
  acting: [verb, example, { workflow, version }],
  onClose,
}: {
  readonly acting: Acting
  readonly onClose: () => void
}) {
  const action = { verb, step: example.step, denied: false }
  const about = `${nameOf(example)}, ${workflow} v${version}`
  return <ActionDialog action={action} runId={example.id} about={about} onClose={onClose} />
}

function Groups({ page, act }: { readonly page: ParkedPage; readonly act: (acting: Acting) => void }) {
  const { groups, runs, read, more, readAt } = page
  const undos = groups.reduce((sum, group) => sum + group.undos, 0)
  const isPart = more || runs.capped || read < runs.count
  // The navigation counts runs: so does the title.
  const title = `${capped(runs)} ${runs.count === 1 ? 'run' : 'runs'} with ${isPart ? 'parked undos' : counted(undos, 'parked undo')}, in ${figure(groups.length)}${more ? '+' : ''} ${groups.length === 1 ? 'group' : 'groups'}`
  return (
    <>
      <Head title={title}>
        Each of these undos failed for good: its run stands still, and its effect is still in the world.
        Nobody tries again until you do. The same workflow, version, step and error are one group.
      </Head>
      <p class="weak" role="status">
        {read < runs.count && `Read ${figure(read)} of ${capped(runs)} parked runs. The others follow. `}
        {runs.capped && `Of more than ${figure(runs.count)} parked runs, only the newest stand here. `}
        {more && 'There are more groups, with fewer runs.'}
      </p>
      <ul>
        {groups.map((group, index) => (
          <Group
            key={JSON.stringify([group.workflow, group.version, group.step, group.error])}
            group={group}
            now={readAt}
            isFirst={index === 0}
            act={(verb, example) => act([verb, example, group])}
          />
        ))}
      </ul>
    </>
  )
}

function Nothing({ page: { settled, readAt } }: { readonly page: ParkedPage }) {
  return (
    <Blank state="completed" title="No undo is parked">
      <p>An undo that fails for good stands here until a person retries it or marks it as undone.</p>
      {settled && (
        <p>
          The last one{settled.step === undefined ? '' : `, ${settled.step}`} of{' '}
          <Link class="run-link" href={`/runs/${settled.run.id}`}>
            {nameOf(settled.run)}
          </Link>
          , was {settled.action === 'skip_compensation' ? 'marked as undone' : 'retried'}{' '}
          <time title={fullInstant(settled.at)}>{instant(settled.at, readAt)}</time>
          {settled.by !== undefined && ` by ${settled.by}`}
          {settled.reason === undefined ? '.' : `: ${settled.reason}`}
        </p>
      )}
    </Blank>
  )
}
