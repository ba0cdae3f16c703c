import { quoted } from '@belay/graph-view'
import type { PendingApproval } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { nameOf, shortIds } from '../runs/names.ts'
import type { Column, Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { ago } from '../terminal/time.ts'

const LIMIT_DEFAULT = 20

/** `belay approvals`. */
export async function run({ connect, flags, out }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const limit = flags.limit ?? LIMIT_DEFAULT
  const filters = flags.workflow?.map((workflow) => ({ workflow })) ?? [{}]
  const found = await Promise.all(
    filters.map((filter) => store.engine.approvals.pending({ ...filter, limit: limit + 1 })),
  )
  const all = found.flat().toSorted((one, other) => (one.runId < other.runId ? 1 : -1))
  const approvals = all.slice(0, limit)
  const now = await store.now()
  const columns = columnsOf(out, approvals, now)
  if (out.json) {
    out.document({ approvals: out.objects(columns, approvals) })
    return
  }
  const [first] = approvals
  if (first === undefined) {
    out.note('Nothing waits for a decision.')
    return
  }
  if (out.plain && out.fields === undefined) for (const each of approvals) out.line(sentenceOf(each, now))
  else out.table(columns, approvals)
  if (all.length > limit) out.note(`There are more: belay approvals --limit ${limit * 5}`)
  out.note(`  belay approve ${nameOf({ id: first.runId, key: first.key })} ${quoted(safe(first.step))}`)
  return
}

function sentenceOf({ runId, key, workflow, step, since, timeoutAt }: PendingApproval, now: Date): string {
  const named = key === undefined ? '' : `, key ${safe(key)},`
  const end = timeoutAt === undefined ? '' : `, and times out ${ago(timeoutAt, now)}`
  return `"${safe(step)}" of run ${runId} of "${safe(workflow)}"${named} waits for a decision (asked ${ago(since, now)})${end}.`
}

function columnsOf(
  out: Output,
  approvals: readonly PendingApproval[],
  now: Date,
): readonly Column<PendingApproval>[] {
  const short = shortIds(approvals.map(({ runId }) => runId))
  return [
    { field: 'step', shown: ({ step }) => out.status('waiting', safe(step)), value: ({ step }) => step },
    { field: 'runId', title: 'RUN', shown: ({ runId }) => short(runId), value: ({ runId }) => runId },
    { field: 'key', shown: ({ key }) => safe(key ?? ''), value: ({ key }) => key },
    { field: 'workflow', shown: ({ workflow }) => safe(workflow), value: ({ workflow }) => workflow },
    { field: 'since', shown: ({ since }) => ago(since, now), value: ({ since }) => since },
    {
      field: 'timeoutAt',
      title: 'TIMES OUT',
      shown: ({ timeoutAt }) => (timeoutAt === undefined ? '' : ago(timeoutAt, now)),
      value: ({ timeoutAt }) => timeoutAt,
    },
  ]
}
