import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { ArchivedRun, CountedByStatus, PruneOptions } from '@belay/workflow'
import { type Duration, durationMs, type EndStatus } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused, refused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import type { Store } from '../store/store.ts'
import { confirmCount } from '../terminal/ask.ts'
import type { Output } from '../terminal/output.ts'
import { moment } from '../terminal/time.ts'

type Filter = Pick<PruneOptions, 'workflow' | 'tags'>

/** `belay prune`. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { connect, flags, out } = call
  const age = flags['older-than']
  if (age === undefined) throw misused('--older-than is missing.', 'prune --older-than 30d --dry-run')
  const olderThanMs = durationMs(age as Duration, '--older-than')
  const store = await connect()
  const now = await store.now()
  const finishedBefore = new Date(now.getTime() - olderThanMs)
  const { workflow, tag: tags } = flags
  const filter = { ...(workflow === undefined ? {} : { workflow }), ...(tags === undefined ? {} : { tags }) }
  const counts = await store.engine.runs.countByStatus({ ...filter, finishedBefore, max: COUNT_MAX })
  const total = Object.values(counts).reduce((sum, { count }) => sum + count, 0)
  if (!out.json && total > 0) showCounts(out, counts, { finishedBefore, now })
  if (flags['dry-run']) {
    if (out.json) out.document({ dryRun: true, finishedBefore, counts })
    else out.note(total === 0 ? NOTHING : `Nothing was deleted. To keep copies: --archive runs.ndjson`)
    return
  }
  if (total > 0 || flags.expect !== undefined)
    await confirmCount(call, total, `delete ${total === 1 ? 'it' : 'them'}`)
  return prune(call, store, { filter, finishedBefore, total })
}

/** More are the next call’s. */
const COUNT_MAX = 1_000_000
const NOTHING = 'No run ended so long ago.'

function showCounts(
  out: Output,
  counts: CountedByStatus,
  { finishedBefore, now }: { readonly finishedBefore: Date; readonly now: Date },
): void {
  const rows = Object.entries(counts) as [EndStatus, { readonly count: number }][]
  out.table(
    [
      {
        field: 'runs',
        shown: ([, { count }]) => count.toLocaleString('en-US'),
        value: ([, { count }]) => count,
      },
      { field: 'status', shown: ([status]) => status, value: ([status]) => status },
      {
        field: 'endedBefore',
        title: 'ENDED',
        shown: () => `before ${moment(finishedBefore, now, out)}`,
        value: () => finishedBefore,
      },
    ],
    rows,
  )
}

async function prune(
  { flags, out, process, signal }: Call,
  { engine, now }: Store,
  {
    filter,
    finishedBefore,
    total,
  }: { readonly filter: Filter; readonly finishedBefore: Date; readonly total: number },
): Promise<ExitStatus | undefined> {
  const path = flags.archive === undefined ? undefined : resolve(process.cwd(), flags.archive)
  const file = path === undefined || total === 0 ? undefined : await opened(path)
  const isWatched = process.stderr.isTTY === true && !out.plain && !out.json
  try {
    const report =
      total === 0
        ? { pruned: 0, batches: 0, more: false }
        : await engine.prune({
            ...filter,
            // Those that were counted, and none that has become old enough since.
            olderThan: (await now()).getTime() - finishedBefore.getTime(),
            limit: total,
            signal,
            ...(file === undefined ? {} : { archive: (runs: readonly ArchivedRun[]) => append(file, runs) }),
            ...(isWatched ? { onProgress: ({ pruned }) => out.rawNote(`\r${pruned} of ${total}`) } : {}),
          })
    if (isWatched && report.batches > 0) out.rawNote('\r')
    if (out.json) out.document(report)
    else if (total === 0) out.note(NOTHING)
    else out.line(`${report.pruned} deleted.${path === undefined ? '' : ` Copies are in ${flags.archive}.`}`)
    if (!signal.aborted) return
    out.note('It was stopped: there are more.')
    return 1
  } finally {
    await file?.close()
  }
}

/** Only its owner may read it: payloads may be private. */
async function opened(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'a', 0o600)
  } catch (error) {
    throw refused(`The archive cannot be written: ${(error as Error).message}. Nothing was deleted.`)
  }
}

/** On the disk before the runs are deleted. */
async function append(file: FileHandle, runs: readonly ArchivedRun[]): Promise<void> {
  await file.appendFile(runs.map((run) => `${JSON.stringify(run)}\n`).join(''))
  await file.sync()
}
