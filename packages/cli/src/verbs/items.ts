import { quoted, span } from '@belay/graph-view'
import { statusesOf } from '@belay/workflow'
import { counted, STEP_TRANSITIONS, type StepStatus } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { type Item, itemsOf, runWithoutItems } from '../runs/items.ts'
import { nameOf, runNamed } from '../runs/names.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'

const LIMIT_DEFAULT = 20

/** `belay items`. */
export async function run({ args, connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const [map, statuses, limit] = [args['map']!, itemStatusesIn(flags.status), flags.limit ?? LIMIT_DEFAULT]
  if (limit < 1) throw misused('--limit must be a whole number from 1 on.')
  const after = flags.after === undefined ? undefined : indexOf(flags.after)
  const store = await connect()
  const summary = await runNamed(store, args['run']!)
  const items: Item[] = []
  let next: number | null = null
  for await (const item of itemsOf(store, { run: summary.id, map, after })) {
    if (statuses !== undefined && !statuses.includes(item.status)) continue
    if (items.length === limit) {
      next = items.at(-1)!.index
      break
    }
    items.push(item)
  }
  const state = (await runWithoutItems(store, summary.id))?.maps[map]
  const columns = columnsOf(out, summary.readAt, flags.payloads === true)
  if (out.json) {
    out.document({ run: summary.id, map, ...state, listed: out.objects(columns, items), next })
    return
  }
  if (items.length > 0) out.table(columns, items)
  out.note(`${items.length === 0 ? 'No item matches. ' : ''}${safe(map)} has ${countsOf(state)}.`)
  if (next !== null) {
    const conditions = flags.status === undefined ? '' : ` --status ${flags.status.map(quoted).join(',')}`
    out.note(`More: belay items ${nameOf(summary)} ${quoted(safe(map))}${conditions} --after ${next}`)
  }
  return
}

/** The words of the screens; `failed` also means items whose undo failed. */
function itemStatusesIn(words: readonly string[] | undefined): readonly StepStatus[] | undefined {
  return words?.flatMap((word): readonly StepStatus[] => {
    if (word === 'failed') return ['failed', 'compensation_failed']
    const meant = STATUSES.filter((status) => [word, ...(statusesOf(word) ?? [])].includes(status))
    if (meant.length > 0) return meant
    throw misused(`--status: no item is ever "${safe(word)}". Give one of ${STATUSES.join(', ')}.`)
  })
}

const STATUSES = Object.keys(STEP_TRANSITIONS) as readonly StepStatus[]

function indexOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw misused(`--after takes the index of an item, got "${safe(text)}".`)
}

function countsOf(state: { readonly items: number; readonly statuses: object } | undefined): string {
  if (state === undefined || state.items === 0) return 'no items yet'
  const statuses = Object.entries(state.statuses).map(([status, count]) => `${count} ${status}`)
  return `${counted(state.items, 'item')}: ${statuses.join(', ')}`
}

function columnsOf(out: Output, now: Date, payloads: boolean): readonly Column<Item>[] {
  const errorOf = ({ error, undo, status }: Item) => (status === 'compensation_failed' ? undo?.error : error)
  const errorText = (item: Item) => {
    const error = errorOf(item)
    return error === undefined ? '' : payloads ? `${error.name}: ${error.message}` : error.name
  }
  return [
    { field: 'status', shown: ({ status }) => out.status(status), value: ({ status }) => status },
    { field: 'index', align: 'right', shown: ({ index }) => String(index), value: ({ index }) => index },
    { field: 'key', shown: ({ itemKey }) => safe(itemKey), value: ({ itemKey }) => itemKey },
    {
      field: 'attempts',
      align: 'right',
      shown: ({ attempts }) => String(attempts),
      value: ({ attempts }) => attempts,
    },
    {
      field: 'took',
      shown: ({ startedAt, finishedAt }) =>
        startedAt === undefined ? '' : span((finishedAt ?? now).getTime() - startedAt.getTime()),
      value: ({ startedAt, finishedAt }) =>
        startedAt === undefined || finishedAt === undefined
          ? undefined
          : finishedAt.getTime() - startedAt.getTime(),
    },
    { field: 'error', shown: (item) => safe(errorText(item)), value: (item) => errorText(item) || undefined },
    { field: 'step', hidden: true, shown: ({ name }) => safe(name), value: ({ name }) => name },
    ...(payloads
      ? [
          {
            field: 'output',
            hidden: true,
            shown: ({ output }: Item) => safe(output === undefined ? '' : JSON.stringify(output)),
            value: ({ output }: Item) => output,
          } as const,
        ]
      : []),
  ]
}
