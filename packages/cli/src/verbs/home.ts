import type { CountedByStatus, PendingApproval, RunWithSteps, WorkerSnapshot } from '@belay/workflow'
import { FAILED_STATUSES } from '@belay/workflow'
import type { RunStatus } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { nameOf } from '../runs/names.ts'
import type { Store } from '../store/store.ts'
import type { Output } from '../terminal/output.ts'
import { cut, pad, safe, width } from '../terminal/text.ts'
import { span } from '../terminal/time.ts'

const NAMED_MAX = 4
const HOUR_MS = 3_600_000

/** Bare `belay`: what needs a person, then how things are. */
export async function run({ connect, out, quote }: Call): Promise<ExitStatus | undefined> {
  const store = await connect()
  const seen = await look(store, quote)
  if (out.json) {
    const { place, source, schema } = store
    const { now: readAt, parked, ...others } = seen
    // Without their inputs, which may be private.
    const runs = parked.map(({ id, key, workflow, version, status }) => ({
      id,
      key,
      workflow,
      version,
      status,
    }))
    out.document({ place, source, schema, readAt, parked: runs, ...others })
    return
  }
  out.line(`${store.place} (${store.source}), schema ${store.schema}`)
  out.line()
  for (const [title, lines] of sections(out, seen)) {
    for (const [index, line] of lines.entries()) {
      const named = `  ${pad(index === 0 ? title : '', 12)}${line}`.trimEnd()
      out.line(out.plain ? `${title}: ${line.trim().replaceAll(/ {2,}/g, ', ')}.` : named)
    }
  }
  const next = nextOf(seen)
  if (next !== undefined) out.note(`\n  belay ${next}`)
  return
}

interface Seen {
  readonly now: Date
  readonly parked: readonly RunWithSteps[]
  readonly approvals: readonly PendingApproval[]
  readonly live: CountedByStatus
  readonly lastHour: CountedByStatus
  readonly workers: readonly WorkerSnapshot[]
  /** What `doctor` finds besides runs that are named here. */
  readonly findings: readonly string[]
}

async function look({ engine, now: clock }: Store, quote: Call['quote']): Promise<Seen> {
  const now = await clock()
  const finishedAfter = new Date(now.getTime() - HOUR_MS)
  const [parked, approvals, queue, lastHour, workers, report] = await Promise.all([
    engine.runs.list({ status: [...NEED_YOU], steps: true, limit: NAMED_MAX + 1 }),
    engine.approvals.pending({ limit: NAMED_MAX + 1 }),
    engine.queue(),
    engine.runs.countByStatus({ status: [...ENDED], finishedAfter }),
    engine.workers.list(),
    engine.doctor({ quote }),
  ])
  const findings = report.findings.filter(({ type }) => type !== 'parked_runs').map(({ message }) => message)
  return { now, parked, approvals, live: queue.liveRuns, lastHour, workers, findings }
}

const NEED_YOU = ['compensation_failed', 'parked'] as const satisfies readonly RunStatus[]
const ENDED = ['completed', 'compensated', 'failed', 'cancelled'] as const satisfies readonly RunStatus[]

function sections(out: Output, seen: Seen): readonly (readonly [string, readonly string[]])[] {
  const { live, lastHour, workers } = seen
  const up = workers.filter(({ status }) => status === 'live')
  const sum = (of: 'busy' | 'slots') => up.reduce((total, worker) => total + (worker[of] ?? 0), 0)
  const needs = needsYou(out, seen)
  return [
    ['needs you', needs.length > 0 ? needs : ['nothing']],
    ['now', [nowText(live)]],
    ['last hour', [lastHourText(lastHour)]],
    [
      'workers',
      [`${up.length} live${up.length === 0 ? '' : `, ${sum('busy')} of ${sum('slots')} slots busy`}`],
    ],
  ]
}

/** `0 running, 1 waiting, 8 parked`, and any other status that has runs. */
function nowText(live: CountedByStatus): string {
  const others = (Object.keys(live) as RunStatus[]).filter(
    (status) => !SHOWN_ALWAYS.includes(status) && !isParked(status) && countOf(live, [status]) !== '0',
  )
  const named = [...SHOWN_ALWAYS, ...others].map((status) => `${countOf(live, [status])} ${status}`)
  const parked = countOf(live, NEED_YOU)
  return [...named, ...(parked === '0' ? [] : [`${parked} parked`])].join(', ')
}

const SHOWN_ALWAYS: readonly RunStatus[] = ['running', 'waiting']

function isParked(status: RunStatus): boolean {
  return NEED_YOU.some((each) => each === status)
}

/** `3 failed of 41 ended, 2 of them undone`: what was undone had failed before. Parked runs have not ended. */
function lastHourText(ended: CountedByStatus): string {
  const undone = countOf(ended, ['compensated'])
  const failed = countOf(ended, ENDED.filter(isFailed))
  const some = undone === '0' ? '' : failed === undone ? ', and undone' : `, ${undone} of them undone`
  return `${failed} failed of ${countOf(ended, ENDED)} ended${some}`
}

function isFailed(status: RunStatus): boolean {
  return FAILED_STATUSES.some((each) => each === status)
}

function countOf(by: CountedByStatus, statuses: readonly RunStatus[]): string {
  const found = statuses.flatMap((status) => by[status] ?? [])
  const count = found.reduce((sum, each) => sum + each.count, 0)
  return `${count}${found.some(({ capped }) => capped) ? '+' : ''}`
}

function needsYou(out: Output, { now, parked, live, approvals, findings }: Seen): readonly string[] {
  const rows = [
    ...parked
      .slice(0, NAMED_MAX)
      .map((run) => [out.shape('needs you'), nameOf(run), parkedText(run)] as const),
    ...approvals.slice(0, NAMED_MAX).map(({ runId, key, step, timeoutAt }) => {
      const until = timeoutAt === undefined ? '' : `, ${span(timeoutAt.getTime() - now.getTime())} left`
      return [
        out.shape('waiting'),
        nameOf({ id: runId, key }),
        `${safe(step)} waits for a decision${until}`,
      ] as const
    }),
  ]
  const names = Math.max(0, ...rows.map(([, name]) => width(name)))
  const room = out.columns - 14
  const mark = (shape: string) => (shape === '' ? '' : `${shape} `)
  return [
    ...rows.map(([shape, name, text]) => mark(shape) + cut(`${pad(name, names)}  ${text}`, room - 2)),
    ...(parked.length > NAMED_MAX
      ? [`  ${NAMED_MAX} of ${countOf(live, NEED_YOU)} parked: belay list --status parked,undo-parked`]
      : []),
    ...(approvals.length > NAMED_MAX ? ['  more: belay approvals'] : []),
    ...findings.slice(0, 2).map((text) => mark(out.shape('needs you')) + cut(safe(text), room - 2)),
    ...(findings.length > 2 ? [`  ${findings.length - 2} more: belay doctor`] : []),
  ]
}

function parkedText({ status, steps }: RunWithSteps): string {
  const wanted = status === 'parked' ? 'failed' : 'compensation_failed'
  const names = steps.filter((step) => step.status === wanted).map(({ name }) => safe(name))
  const what = status === 'parked' ? 'failed, and nothing can be undone' : 'its compensation failed for good'
  return names.length === 0 ? what : `${names.join(', ')}: ${what}`
}

function nextOf({ parked, approvals, findings }: Seen): string | undefined {
  const [run] = parked
  if (run !== undefined) return `explain ${nameOf(run)}`
  if (findings.length > 0) return 'doctor'
  const [approval] = approvals
  return approval === undefined ? 'list' : `explain ${nameOf({ id: approval.runId, key: approval.key })}`
}
