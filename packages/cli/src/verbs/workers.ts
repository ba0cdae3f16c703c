import type { WorkerSnapshot } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { fieldColumns } from '../terminal/field-columns.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago } from '../terminal/time.ts'

const FIELDS = fieldColumns<WorkerSnapshot>([
  'id',
  'name',
  'host',
  'status',
  'startedAt',
  'renewedAt',
  'leaseExpiresAt',
  'slots',
  'busy',
  'workflows',
])

/** `belay workers`. */
export async function run({ connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const { limit } = flags
  const workers = await store.engine.workers.list(limit === undefined ? {} : { limit })
  if (out.json) {
    out.document({ workers: out.objects(FIELDS, workers) })
    return
  }
  if (workers.length === 0) {
    out.note('No worker is registered: steps wait until one starts.')
    return
  }
  out.table(columnsOf(out, await store.now()), workers)
  return
}

const SHOWN = { live: 'completed', expired: 'paused', dead: 'failed' } as const

function columnsOf(out: Output, now: Date): readonly Column<WorkerSnapshot>[] {
  const shown: readonly Column<WorkerSnapshot>[] = [
    {
      field: 'status',
      shown: ({ status }) => out.status(SHOWN[status], status),
      value: ({ status }) => status,
    },
    { field: 'name', shown: ({ name }) => safe(name), value: ({ name }) => name },
    { field: 'host', shown: ({ host }) => safe(host ?? ''), value: ({ host }) => host },
    {
      field: 'busy',
      shown: ({ busy, slots }) => (slots === undefined ? '' : `${busy ?? 0} of ${slots}`),
      value: ({ busy }) => busy,
    },
    {
      field: 'renewedAt',
      title: 'RENEWED',
      shown: ({ renewedAt }) => (renewedAt === undefined ? '' : ago(renewedAt, now)),
      value: ({ renewedAt }) => renewedAt,
    },
    {
      field: 'workflows',
      shown: ({ workflows }) => safe(namesOf(workflows) ?? 'does not say'),
      value: ({ workflows }) => namesOf(workflows),
    },
  ]
  return [...shown, ...FIELDS.filter(({ field }) => !shown.some((column) => column.field === field))]
}

function namesOf(workflows: WorkerSnapshot['workflows']): string | undefined {
  return workflows?.map(({ name, version }) => `${name} v${version}`).join(', ')
}
