import type { ViewStep } from '@belay/graph-view'
import { useState } from 'preact/hooks'
import type { FailingItem, ItemErrorGroup, ItemErrors, ItemVerb } from '../../../src/api/maps.ts'
import { CAPABILITY_OF } from '../../../src/capabilities.ts'
import { Lines } from '../lines.tsx'
import { OfferedButton } from '../may-button.tsx'
import { counted, figure, fullInstant, instant, nameOf } from '../words.ts'
import { ITEM_WORDS, ItemsDialog } from './items-dialog.tsx'
import { rangesOf } from './ranges.ts'
import { ActButton, type TabProps } from './tab.tsx'
import { useOnce } from './use-once.tsx'

type ErrorsProps = TabProps & { readonly step: ViewStep }

interface Asked {
  readonly verb: ItemVerb
  readonly items: readonly FailingItem[]
}

/** Why items of a map fail, one row for each cause, with what can be done about all of its items or about chosen ones. */
export function WhyItemsFail(props: ErrorsProps) {
  const { page, step } = props
  const { run } = page
  const [asked, ask] = useState<Asked>()
  const path = `runs/${run.id}/items/errors?map=${encodeURIComponent(step.name)}`
  const { data, told } = useOnce<ItemErrors>(path, step.items!)
  return (
    <section class="item-errors">
      <h2>Why items fail</h2>
      {told}
      {data?.groups.length === 0 && (
        <p class="weak">No item has failed, and none waits for a next attempt.</p>
      )}
      {data !== undefined && data.groups.length > 0 && (
        <Lines caption="Why items fail" columns={['Error', 'Items', 'Which', 'Since']} last="Actions">
          {data.groups.map((group) => (
            <Group key={`${group.state}${group.error}`} {...props} group={group} ask={ask} />
          ))}
        </Lines>
      )}
      {data?.more && (
        <p class="weak">
          The first {figure(data.read)} failing items are grouped: there may be more after them. Their turn
          comes once these are settled.
        </p>
      )}
      {asked && (
        <ItemsDialog
          {...asked}
          runId={run.id}
          map={step.name}
          about={`${nameOf(run)}, ${run.workflow} v${run.version}`}
          onClose={() => ask(undefined)}
        />
      )}
    </section>
  )
}

const STATES: Readonly<Record<ItemErrorGroup['state'], readonly [look: string, words: string]>> = {
  failed: ['s-failed', 'Failed for good'],
  retrying: ['s-waiting', 'Waits for the next attempt'],
  'undo parked': ['s-parked', 'Undo parked'],
  'undo retrying': ['s-undoing', 'Undo waits for its next attempt'],
}

function Group({
  group,
  ask,
  ...props
}: ErrorsProps & { readonly group: ItemErrorGroup; readonly ask: (asked: Asked) => void }) {
  const { page, step } = props
  const { state, error, items, since, until, actions } = group
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const some = items.filter(({ key }) => chosen.has(key))
  const acted = some.length === 0 ? items : some
  const now = page.run.readAt
  const [look, words] = STATES[state]
  return (
    <tr>
      <td class="wrap">
        <p>{error}</p>
        <p class={`item-state ${look}`}>{words}</p>
      </td>
      <td>{figure(items.length)}</td>
      <td class="wrap">
        {rangesOf(step.name, items)}
        {actions.length > 0 && <Choice items={items} chosen={chosen} onChosen={choose} />}
      </td>
      <td>
        {since !== undefined && <time title={fullInstant(since)}>{instant(since, now)}</time>}
        {until !== undefined && until - since! >= 1_000 && <> to {instant(until, now)}</>}
      </td>
      <td class="last">
        <div class="row">
          {actions.map(({ verb, denied }) => (
            <OfferedButton
              key={verb}
              lacks={denied && CAPABILITY_OF[verb]}
              onClick={() => ask({ verb, items: acted })}
            >
              {ITEM_WORDS[verb].button(figure(acted.length))}
              {some.length > 0 && ' chosen'}…
            </OfferedButton>
          ))}
        </div>
        {actions.length === 0 && <Instead {...props} />}
      </td>
    </tr>
  )
}

const CHOICE_MAX = 200

function Choice({
  items,
  chosen,
  onChosen,
}: {
  readonly items: readonly FailingItem[]
  readonly chosen: ReadonlySet<string>
  readonly onChosen: (chosen: ReadonlySet<string>) => void
}) {
  const [isOpen, open] = useState(false)
  if (items.length === 1) return null
  const toggle = (key: string) => {
    const next = new Set(chosen)
    if (!next.delete(key)) next.add(key)
    onChosen(next)
  }
  return (
    <details onToggle={(event) => open(event.currentTarget.open)}>
      <summary>Choose some</summary>
      {isOpen && (
        <div class="item-choice">
          {items.slice(0, CHOICE_MAX).map(({ key }) => (
            <label key={key} class="check">
              <input type="checkbox" checked={chosen.has(key)} onChange={() => toggle(key)} /> {key}
            </label>
          ))}
          {items.length > CHOICE_MAX && (
            <p class="weak">
              {counted(items.length - CHOICE_MAX, 'later item')} can only be acted on with all.
            </p>
          )}
        </div>
      )}
    </details>
  )
}

/** What helps where nothing can be done about single items. */
function Instead({ page, step, act }: ErrorsProps) {
  const { run, actions, open } = page
  const ofRun = actions.filter(({ verb }) => verb === 'retry' || verb === 'resume')
  const ofMap = open.find((one) => one.step === step.name)?.actions ?? []
  const [words, offered] =
    ofRun.length > 0
      ? [
          run.status === 'paused'
            ? 'The run is paused: resume it first.'
            : 'The run has ended: only a retry of the whole run helps.',
          ofRun,
        ]
      : ofMap.length > 0
        ? ['The map went on without them and failed as a whole: act on the map.', ofMap]
        : [
            run.finishedAt === undefined && run.status.startsWith('compensat')
              ? 'The run is being undone. Once it has ended, it can be retried.'
              : 'The map goes on without them: nothing can be done about single items.',
            [],
          ]
  return (
    <>
      <p class="weak">{words}</p>
      {offered.map((action) => (
        <ActButton key={action.verb} action={action} act={act} />
      ))}
    </>
  )
}
