import { actionText } from '@belay/graph-view'
import type { RunHistoryEntry } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { runNamed } from '../runs/names.ts'
import type { Column } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago } from '../terminal/time.ts'

/** `belay history`. */
export async function run({ args, connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const { id, readAt } = await runNamed(store, args['run']!)
  const { limit } = flags
  const history = await store.engine.runs.history(id, limit === undefined ? {} : { limit })
  const columns = columnsOf(readAt, flags.payloads === true)
  if (out.json) out.document({ history: out.objects(columns, history) })
  else if (out.plain) for (const entry of history) out.line(sentenceOf(entry, readAt))
  else if (history.length > 0) out.table(columns, history)
  if (history.length === 0 && !out.json) out.note('Nobody has acted on this run, and it received no signal.')
  return
}

function columnsOf(now: Date, payloads: boolean): readonly Column<RunHistoryEntry>[] {
  return [
    { field: 'at', title: 'WHEN', shown: ({ at }) => ago(at, now), value: ({ at }) => at },
    { field: 'by', shown: ({ by }) => safe(by ?? ''), value: ({ by }) => by },
    { field: 'action', shown: ({ action }) => safe(action), value: ({ action }) => action },
    { field: 'step', shown: ({ step }) => safe(step ?? ''), value: ({ step }) => step },
    { field: 'reason', shown: ({ reason }) => safe(reason ?? ''), value: ({ reason }) => reason },
    {
      field: 'key',
      hidden: true,
      shown: ({ key }) => safe(key ?? ''),
      value: ({ key }) => key,
    },
    ...(payloads ? [CHANGE] : []),
  ]
}

const CHANGE: Column<RunHistoryEntry> = {
  field: 'change',
  shown: ({ change }) => safe(JSON.stringify(change) ?? ''),
  value: ({ change }) => change,
}

function sentenceOf({ at, by, action, step, reason }: RunHistoryEntry, now: Date): string {
  const who = by === undefined ? '' : ` by ${by}`
  return safe(
    `${ago(at, now)}: ${actionText(action)}${step === undefined ? '' : ` of ${step}`}${who}${reason === undefined ? '' : `, because ${reason}`}.`,
  )
}
