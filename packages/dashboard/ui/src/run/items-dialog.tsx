import { participleOf } from '@belay/graph-view'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FailingItem, ItemsRequest, ItemsResult, ItemVerb } from '../../../src/api/maps.ts'
import { AskDialog, Reason } from '../ask-dialog.tsx'
import { counted, figure } from '../words.ts'
import { write } from '../write.ts'
import { rangesOf } from './ranges.ts'
import { VERBS } from './verbs.ts'

export const ITEM_WORDS: Readonly<
  Record<ItemVerb, { readonly button: (count: string) => string; readonly past: string }>
> = {
  retryStep: { button: (count) => `Retry ${count}`, past: 'due again' },
  skipStep: { button: (count) => `Skip ${count}`, past: 'skipped' },
  retryCompensation: { button: (count) => `Retry the undo of ${count}`, past: 'to be undone again' },
  skipCompensation: {
    button: (count) => `Mark ${count} as undone`,
    past: participleOf({ verb: 'skipCompensation' }),
  },
}

/** What has come, or would come, of the first items. */
interface Tally {
  readonly changed: number
  readonly refused: ReadonlyMap<string, readonly FailingItem[]>
}

const NOTHING: Tally = { changed: 0, refused: new Map() }

/** Of the texts in a request: the server takes 64 KiB, and escapes may triple a character. */
const PART_CHARS = 16_000

/** As many of the next items as a request may carry. The server answers after a second with what it has done, and is asked for the rest. */
function partOf(items: readonly FailingItem[]): readonly string[] {
  const part: string[] = []
  let size = 0
  for (const { key } of items) {
    size += key.length + 3
    if (part.length === 1_000 || (part.length > 0 && size > PART_CHARS)) break
    part.push(key)
  }
  return part
}

interface DialogProps {
  readonly runId: string
  readonly map: string
  readonly about: string
  readonly verb: ItemVerb
  readonly items: readonly FailingItem[]
  readonly onClose: () => void
}

type Stage = 'asking' | 'asked' | 'working' | 'done'

/** Acts on many items: the dry run first, then part by part, with what was refused and why. Closing it stops after the part under way. */
export function ItemsDialog({ runId, map, about, verb, items, onClose }: DialogProps) {
  const [reason, setReason] = useState('')
  const [output, setOutput] = useState('')
  const { stage, isSent, tally, trouble, pass, stop } = usePass(runId, { map, verb, items })
  useEffect(() => void pass({ dryRun: true }), [])
  const words = ITEM_WORDS[verb]
  const title = `${words.button(counted(items.length, 'item'))} of ${map}`.replace(
    'as undone of',
    'as undone in',
  )
  const go = () =>
    pass({
      ...{ dryRun: false, reason: reason.trim() },
      ...(verb === 'skipStep' && output.trim() !== '' ? { payload: output } : {}),
    })
  const isOpen = stage === 'asking' || stage === 'asked'
  const settled = tally.changed + [...tally.refused.values()].reduce((sum, some) => sum + some.length, 0)
  return (
    <AskDialog
      title={title}
      go={isOpen && VERBS[verb].go.replace(' it', '')}
      isReady={!isSent && reason.trim() !== ''}
      leave={stage === 'done' ? 'Close' : stage === 'working' ? 'Stop and close' : 'Leave it'}
      onGo={() => void go()}
      onClose={() => {
        stop()
        onClose()
      }}
    >
      <p class="weak">{about}</p>
      <p class={trouble === undefined ? 'outcome' : 'outcome refused'} role="status">
        {sentenceOf(stage, tally, { past: words.past, left: items.length - settled, trouble })}
      </p>
      {stage === 'working' && (
        <p class="row">
          <progress aria-label="Progress" max={items.length} value={settled} /> {figure(settled)} of{' '}
          {counted(items.length, 'item')}
          <button type="button" class="button" onClick={stop}>
            Stop
          </button>
        </p>
      )}
      <Refused map={map} refused={tally.refused} />
      {isOpen && verb === 'skipStep' && (
        <label>
          The output of each of them instead, as JSON
          <textarea rows={2} value={output} onInput={(event) => setOutput(event.currentTarget.value)} />
        </label>
      )}
      {isOpen && (
        <Reason reason={reason} onReason={setReason}>
          Reason, kept in the run’s history for each item
        </Reason>
      )}
    </AskDialog>
  )
}

type Asked = Pick<ItemsRequest, 'dryRun' | 'reason' | 'payload'>

/** Passes through the items, part by part, until all are settled, something fails, or it is stopped. */
function usePass(runId: string, { map, verb, items }: Pick<DialogProps, 'map' | 'verb' | 'items'>) {
  const [stage, setStage] = useState<Stage>('asking')
  const [tally, setTally] = useState(NOTHING)
  const [trouble, setTrouble] = useState<string>()
  const [isSent, setSent] = useState(false)
  const stopped = useRef(false)
  const last = useRef(Promise.resolve())
  const client = useQueryClient()
  /** One after the other: whoever does it before the dry run has ended is neither ignored nor told the older answer. */
  const pass = (asked: Asked) => {
    stopped.current = false
    setSent(!asked.dryRun)
    last.current = last.current.then(() => passThrough(asked))
    return last.current
  }
  const passThrough = async (asked: Asked) => {
    // The dialog was closed meanwhile.
    if (stopped.current) return
    setTrouble(undefined)
    setStage(asked.dryRun ? 'asking' : 'working')
    let [sum, left] = [NOTHING, items]
    let isOver: Stage = asked.dryRun ? 'asked' : 'done'
    while (left.length > 0 && !stopped.current) {
      const part = partOf(left)
      try {
        const { results } = await write<ItemsResult>(`runs/${runId}/items/actions`, {
          ...{ ...asked, map, verb, items: part },
        } satisfies ItemsRequest)
        if (results.length === 0) throw new Error('The server acted on none of the items.')
        sum = results.reduce((so, result, index) => plus(so, result, left[index]!), sum)
        left = left.slice(results.length)
        setTally(sum)
      } catch (error) {
        setTrouble((error as Error).message)
        // Nothing was done: it may be said otherwise, and tried again.
        if (sum === NOTHING) isOver = 'asked'
        break
      }
    }
    setStage(isOver)
    if (asked.dryRun) return
    setSent(false)
    await client.invalidateQueries()
  }
  const stop = () => {
    stopped.current = true
  }
  return { stage, isSent, tally, trouble, pass, stop }
}

function plus(tally: Tally, { changed, why = '' }: ItemsResult['results'][number], item: FailingItem): Tally {
  if (changed) return { ...tally, changed: tally.changed + 1 }
  return { ...tally, refused: new Map(tally.refused).set(why, [...(tally.refused.get(why) ?? []), item]) }
}

function sentenceOf(
  stage: Stage,
  { changed }: Tally,
  { past, left, trouble }: { past: string; left: number; trouble: string | undefined },
): string {
  switch (stage) {
    case 'asking':
      return 'Asking what would happen…'
    case 'asked':
      return trouble ?? `${counted(changed, 'item')} would be ${past}. Nothing has been changed.`
    case 'working':
      return 'Acting on one item after the other…'
    case 'done': {
      const rest = left === 0 ? '' : ` ${counted(left, 'item')} were not touched.`
      return `${trouble === undefined ? '' : `${trouble} `}${counted(changed, 'item')} ${changed === 1 ? 'is' : 'are'} ${past}.${rest}`
    }
  }
}

function Refused({ map, refused }: { readonly map: string; readonly refused: Tally['refused'] }) {
  if (refused.size === 0) return null
  return (
    <ul class="issues" aria-label="Refused">
      {[...refused].map(([why, items]) => (
        <li key={why}>
          <span class="s-failed">{counted(items.length, 'item')}</span> {why}{' '}
          <span class="weak anywhere">{rangesOf(map, items)}</span>
        </li>
      ))}
    </ul>
  )
}
