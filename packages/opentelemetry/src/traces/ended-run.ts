import type { RunHistoryEntry, RunSnapshot, StepSnapshot } from '@belay/workflow'
import { type Attributes, type Link, TraceFlags } from '@opentelemetry/api'
import { attributes } from './attributes.ts'
import { groupSpanId, runSpanId, spanId, traceIdOf, undoSpanId } from './ids.ts'

/** A span that is known once a run has ended. */
export interface SpanDraft {
  /** The run whose trace it belongs to. */
  readonly runId: string
  readonly spanId: string
  /** Undefined for the span of a run. */
  readonly parentId: string | undefined
  readonly name: string
  readonly startAt: Date
  readonly endAt: Date
  readonly attributes: Attributes
  readonly links?: readonly Link[]
  readonly events?: readonly { readonly name: string; readonly at: Date; readonly attributes: Attributes }[]
  /** What went wrong. */
  readonly error?: string | undefined
}

export interface EndedRun {
  readonly run: RunSnapshot
  /** Its operators' actions and its signals, oldest first. */
  readonly history: readonly RunHistoryEntry[]
  /** When this process saw the run stop, if it did. */
  readonly stoppedAt: Date | undefined
}

/**
 * The spans of a run that are known once it has ended: the run itself, what waited, the frames of maps, loops and the undo, and in its parent’s trace the
 * run as a child. A pure function of the rows. A run that an operator sent forward again ends more than once: then only what began since.
 */
export function spansOfEnd({ run, history, stoppedAt }: EndedRun): readonly SpanDraft[] {
  const finishedAt = run.finishedAt ?? run.readAt
  const again = history.filter(isAgain)
  const since = again.at(-1)?.at
  const undo = undoOf({ run, history, stoppedAt }, finishedAt)
  const whole = again.length === 0 ? runSpan(run, history, finishedAt) : againSpan(run, again, finishedAt)
  const parts = [
    ...waits(run, finishedAt),
    ...groups(run, undo?.startAt ?? finishedAt),
    ...(undo ? [undo] : []),
  ]
  const own = parts.filter(({ startAt }) => since === undefined || startAt >= since)
  const child = run.parentId === undefined ? [] : [childSpan(run, run.parentId, { whole, again })]
  return [whole, ...own, ...child]
}

function runSpan(run: RunSnapshot, history: readonly RunHistoryEntry[], endAt: Date): SpanDraft {
  const startAt = run.startAt !== undefined && run.startAt > run.createdAt ? run.startAt : run.createdAt
  return {
    ...{ runId: run.id, spanId: runSpanId(run.id), parentId: undefined, name: run.workflow, startAt, endAt },
    attributes: runAttributes(run),
    links: [...callerOf(run), ...parentOf(run)],
    events: history.slice(0, EVENTS_MAX).map(({ action, at, step }) => ({
      name: action,
      at,
      attributes: attributes({ 'belay.step': step }),
    })),
    error: errorOf(run),
  }
}

/** The most actions that the span of a run tells. */
const EVENTS_MAX = 100

function againSpan(run: RunSnapshot, again: readonly RunHistoryEntry[], endAt: Date): SpanDraft {
  return {
    ...{ runId: run.id, spanId: spanId('again', run.id, again.length), parentId: runSpanId(run.id) },
    ...{ name: `${run.workflow} again`, startAt: again.at(-1)!.at, endAt },
    attributes: runAttributes(run),
    error: errorOf(run),
  }
}

/** Whether an action sent a run forward that had ended. */
function isAgain(entry: RunHistoryEntry): boolean {
  const status = statusOf(entry)
  return ENDS.has(status?.from) && !ENDS.has(status?.to)
}

/** The change of the run's status, if the action changed it. */
function statusOf({
  change,
}: RunHistoryEntry): { readonly from?: unknown; readonly to?: unknown } | undefined {
  return (Object(change) as { readonly status?: { readonly from?: unknown; readonly to?: unknown } }).status
}

const ENDS: ReadonlySet<unknown> = new Set(['completed', 'failed', 'compensated', 'cancelled'])

function runAttributes(run: RunSnapshot): Attributes {
  const { cause } = run
  const error = cause?.type === 'step_failed' ? cause.error : undefined
  return attributes({
    'belay.workflow': run.workflow,
    'belay.version': run.version,
    'belay.run.id': run.id,
    'belay.run.key': run.key,
    'belay.run.status': run.status,
    'belay.run.stopped_by': cause?.type,
    'error.type': error === undefined ? undefined : (error.code ?? error.name),
  })
}

function errorOf({ status, cause }: RunSnapshot): string | undefined {
  if (status !== 'failed' && status !== 'compensated') return undefined
  if (cause?.type === 'step_failed') return `Step "${cause.step}" failed.`
  return cause?.type === 'deadline' ? 'The run missed its deadline.' : 'The run was stopped.'
}

function callerOf({ tags }: RunSnapshot): readonly Link[] {
  const caller = tags.map((tag) => TRACEPARENT.exec(tag)).find((match) => match !== null)
  if (caller == null) return []
  const [, traceId = '', callerId = '', flags = ''] = caller
  const span = { traceId, spanId: callerId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
  return [{ context: span, attributes: attributes({ 'belay.link': 'caller' }) }]
}

/** The tag in which a run carries the trace context of its caller. Version ff and ids that are all zero are none. */
const TRACEPARENT =
  /^traceparent:(?!ff)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/

function parentOf({ id, parentId }: RunSnapshot): readonly Link[] {
  if (parentId === undefined) return []
  return [linkTo(parentId, spanId('child', id), 'parent')]
}

function linkTo(runId: string, id: string, link: string): Link {
  const context = { traceId: traceIdOf(runId), spanId: id, traceFlags: TraceFlags.SAMPLED, isRemote: true }
  return { context, attributes: attributes({ 'belay.link': link }) }
}

/**
 * In the trace of its parent a child is one span that leads to the child’s own trace. A child that had completed ends again when its parent is undone: that
 * stands with the parent’s undos.
 */
function childSpan(
  run: RunSnapshot,
  parentId: string,
  { whole, again }: { readonly whole: SpanDraft; readonly again: readonly RunHistoryEntry[] },
): SpanDraft {
  const { spanId: own, startAt, endAt, error } = whole
  const last = again.at(-1)
  const isUndo = last !== undefined && statusOf(last)?.from === 'completed'
  return {
    ...{ runId: parentId, startAt, endAt, error: isUndo ? undefined : error },
    name: isUndo ? `undo ${run.workflow}` : `run ${run.workflow}`,
    parentId: isUndo ? undoSpanId(parentId) : runSpanId(parentId),
    spanId: last === undefined ? spanId('child', run.id) : spanId('child', run.id, own),
    attributes: attributes({
      'belay.run.id': parentId,
      'belay.child.id': run.id,
      'belay.run.status': run.status,
    }),
    links: [linkTo(run.id, own, 'child')],
  }
}

function waits(run: RunSnapshot, finishedAt: Date): readonly SpanDraft[] {
  return run.steps.flatMap((step) => {
    const { kind, waitingSince, signalledAt } = step
    if (waitingSince === undefined || !WAITS.has(kind)) return []
    return {
      ...{
        runId: run.id,
        spanId: spanId('wait', run.id, step.name, step.round),
        parentId: runSpanId(run.id),
      },
      ...{
        name: `wait ${step.name}`,
        startAt: waitingSince,
        endAt: signalledAt ?? step.finishedAt ?? finishedAt,
      },
      attributes: { ...stepOf(run, step), ...attributes({ 'belay.wait': kind }) },
    }
  })
}

const WAITS: ReadonlySet<string> = new Set(['sleep', 'signal', 'approval', 'poll'])

/** The frames of maps and loops, from when their items were decided. */
function groups(run: RunSnapshot, stoppedAt: Date): readonly SpanDraft[] {
  return run.steps.flatMap((opener) => {
    if (!opener.name.endsWith('[]') || opener.startedAt === undefined) return []
    const name = opener.name.slice(0, -2)
    const join = run.steps.find((step) => step.name === name)
    return {
      ...{ runId: run.id, spanId: groupSpanId(run.id, name), parentId: runSpanId(run.id), name },
      ...{ startAt: opener.startedAt, endAt: join?.finishedAt ?? stoppedAt },
      attributes: stepOf(run, { name }),
    }
  })
}

function stepOf(run: RunSnapshot, { name }: Pick<StepSnapshot, 'name'>): Attributes {
  return attributes({
    'belay.workflow': run.workflow,
    'belay.version': run.version,
    'belay.run.id': run.id,
    'belay.step': name,
  })
}

/** The frame of the undo. A run that `failed` had nothing to undo. Of items only the maps are read: theirs may have been undone. */
function undoOf({ run, history, stoppedAt }: EndedRun, endAt: Date): SpanDraft | undefined {
  const undone = run.steps.filter(({ undo }) => undo !== undefined)
  const mayHaveUndone = undone.length > 0 || Object.keys(run.maps).length > 0
  if (run.status !== 'compensated' && !(run.status === 'cancelled' && mayHaveUndone)) return undefined
  // The undo of an earlier end has the span already.
  if (run.steps.some(({ round }) => round > 1)) return undefined
  const known = [stoppedAt, stopOf(run, history), ...undone.map(({ undo }) => undo?.startedAt)]
  const times = known.flatMap((time) => time?.getTime() ?? [])
  return {
    ...{ runId: run.id, spanId: undoSpanId(run.id), parentId: runSpanId(run.id), name: 'undo' },
    ...{ startAt: times.length === 0 ? endAt : new Date(Math.min(...times)), endAt },
    attributes: attributes({
      'belay.workflow': run.workflow,
      'belay.version': run.version,
      'belay.run.id': run.id,
      'belay.direction': 'undo',
      'belay.run.stopped_by': run.cause?.type,
    }),
  }
}

/** When the run stopped, as far as the rows tell. */
function stopOf(
  { cause, steps, deadlineAt }: RunSnapshot,
  history: readonly RunHistoryEntry[],
): Date | undefined {
  if (cause?.type === 'deadline') return deadlineAt
  if (cause?.type === 'step_failed') return steps.find(({ name }) => name === cause.step)?.finishedAt
  return history.findLast(({ action }) => action === 'cancel')?.at
}
