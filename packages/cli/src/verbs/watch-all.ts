import type { CountedByStatus, RunSummary } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { nameOf } from '../runs/names.ts'
import type { Store } from '../store/store.ts'
import { LiveScreen, openKeys } from '../terminal/live-screen.ts'
import { Output } from '../terminal/output.ts'
import { safe } from '../terminal/text.ts'
import { clockSpan, moment } from '../terminal/time.ts'
import { runColumns } from './list.ts'

const NEED_YOU = ['compensation_failed', 'parked'] as const
const [NEEDY_MAX, RUNS_MAX] = [5, 15]

interface SeenRuns {
  readonly readAt: Date
  readonly live: CountedByStatus
  readonly runs: readonly RunSummary[]
}

/** Live runs by status and the newest runs, those that need a person first, until somebody leaves. */
export async function watchAll(call: Call, store: Store, intervalMs: number): Promise<ExitStatus> {
  const { out, process, signal } = call
  const isScreen = out.isTerminal && !out.plain && !out.json
  const keys = openKeys(isScreen ? process.stdin : undefined, signal)
  const screen = isScreen ? new LiveScreen(out) : undefined
  let before: SeenRuns | undefined
  screen?.begin()
  try {
    for (;;) {
      const seen = await look(store)
      if (screen !== undefined)
        screen.draw([...frame(call, seen), ...(keys.isOpen ? [out.paint('q leave', 'dim')] : [])])
      else if (out.json) out.record({ ...seen, runs: out.objects(runColumns(out, seen.runs), seen.runs) })
      else for (const line of changes(seen, before)) out.line(line)
      before = seen
      const key = await keys.next(intervalMs)
      if (key === 'q' || key === 'leave') {
        screen?.draw(frame(call, seen))
        return 0
      }
    }
  } finally {
    keys.close()
    screen?.end()
  }
}

async function look({ engine }: Store): Promise<SeenRuns> {
  const [{ readAt, liveRuns: live }, needy, newest] = await Promise.all([
    engine.queue(),
    engine.runs.list({ status: [...NEED_YOU], limit: NEEDY_MAX }),
    engine.runs.list({ limit: RUNS_MAX }),
  ])
  const named = new Set(needy.map(({ id }) => id))
  return { readAt, live, runs: [...needy, ...newest.filter(({ id }) => !named.has(id))] }
}

/** One frame: a function of what was read. */
function frame({ out, process, flags }: Call, { readAt, live, runs }: SeenRuns): readonly string[] {
  const needing = NEED_YOU.reduce((sum, status) => sum + (live[status]?.count ?? 0), 0)
  const counts = Object.entries(live)
    .filter(([status]) => !(NEED_YOU as readonly string[]).includes(status))
    .map(([status, { count, capped }]) => `${count}${capped ? '+' : ''} ${status}`)
  const head = [
    ...counts,
    ...(needing > 0 ? [`${needing} needs you`] : []),
    ` ${moment(readAt, readAt, out)}`,
  ]
  const lines: string[] = []
  const { stderr, env } = process
  const stdout = { ...terminal(out), write: (text: string) => lines.push(text.replace(/\n$/, '')) > 0 }
  const { ascii = false, color, fields } = flags
  const table = new Output({
    stdout,
    stderr,
    env,
    json: false,
    plain: false,
    ascii,
    color,
    utc: out.utc,
    fields,
  })
  const columns = runColumns(table, runs).map((column) =>
    column.field === 'createdAt'
      ? { ...column, title: 'AGE', shown: (run: RunSummary) => clockSpan(ageMs(run)) }
      : column,
  )
  if (runs.length > 0) table.table(columns, runs)
  const rows = process.stdout.rows ?? Number.POSITIVE_INFINITY
  return [head.join('  '), ...lines].slice(0, Math.max(1, rows - 2))
}

function terminal({ columns }: Output) {
  return { isTTY: true, columns }
}

function ageMs({ createdAt, readAt }: RunSummary): number {
  return readAt.getTime() - createdAt.getTime()
}

/** A sentence for each run whose status changed. */
function changes({ readAt, runs }: SeenRuns, before: SeenRuns | undefined): readonly string[] {
  const known = new Map(before?.runs.map(({ id, status }) => [id, status]))
  return runs
    .filter(({ id, status }) => known.get(id) !== status)
    .map((run) => `${readAt.toISOString()} ${safe(run.workflow)} ${nameOf(run)} is ${run.status}.`)
}
