import type {
  Adapter,
  Outcome,
  RunStatus,
  StepRecord,
  UndoRecord,
  ValueRecord,
} from '@belay/workflow/adapter'
import type { Command } from './command.ts'

/** How to read one store's numbers. */
export interface Translation {
  graphOf(definitionId: number): number
  /** The store's time when the comparison began. */
  readonly startedAt: number
}

export interface ComparableRun {
  readonly run: Record<string, unknown> & { readonly status: RunStatus }
  readonly steps: readonly ({ readonly name: string; readonly status: string } & Record<string, unknown>)[]
  readonly values: readonly ValueRecord[]
}

// Two stores may differ in what the port leaves open. Each use of this mask is such a point, and says why.
const OPEN = '(left open)'

export function comparableRun(
  { run, steps, values }: NonNullable<Awaited<ReturnType<Adapter['readRun']>>>,
  { graphOf, startedAt }: Translation,
): ComparableRun {
  const instant = (at: number | null) => (at === null ? null : Math.round(at - startedAt))
  const draining = run.status === 'compensating' && steps.every(({ undoOf }) => undoOf === null)
  return {
    run: {
      ...run,
      definitionId: graphOf(run.definitionId),
      createdAt: instant(run.createdAt),
      // A parked run has not ended for good.
      finishedAt: run.status === 'compensation_failed' ? OPEN : instant(run.finishedAt),
      startAt: instant(run.startAt),
      deadlineAt: instant(run.deadlineAt),
    },
    steps: steps.map((step) => comparableStep(step, draining, instant)),
    values: values.map((value) => ({ ...value, at: Math.round(value.at - startedAt) })),
  }
}

function comparableStep(
  step: StepRecord,
  draining: boolean,
  instant: (at: number | null) => number | null,
): ComparableRun['steps'][number] {
  const { status, workerId } = step
  const leased = workerId !== null && (status === 'running' || status === 'compensating')
  const ended = status === 'completed' || status === 'failed' || status === 'compensated'
  const waits = status === 'pending' || status === 'ready' || status === 'waiting'
  // The port leaves open what cancels a stopped run's waiting steps: the stop, the requeue or the drain.
  const dropped = status === 'cancelled' || (draining && waits)
  return {
    ...step,
    status: draining && dropped ? OPEN : status,
    openDependencies: draining || dropped ? OPEN : step.openDependencies,
    startedAt: instant(step.startedAt),
    finishedAt: instant(step.finishedAt),
    undo: comparableUndo(step.undo, instant),
    // The time when a step is due means nothing once the step cannot be claimed.
    availableAt: waits && !dropped ? instant(step.availableAt) : OPEN,
    waitingSince: instant(step.waitingSince),
    signalledAt: instant(step.signalledAt),
    failingSince: dropped ? OPEN : instant(step.failingSince),
    workerId: leased || ended || (waits && !dropped) ? workerId : OPEN,
  }
}

function comparableUndo(
  undo: UndoRecord | null,
  instant: (at: number | null) => number | null,
): UndoRecord | null {
  return undo && { ...undo, startedAt: instant(undo.startedAt), finishedAt: instant(undo.finishedAt) }
}

/** An answer without what the port leaves open: the order of its parts, and what a settlement says about the past. */
export function comparableAnswer(
  command: Command,
  answer: unknown,
  isFirst: (outcome: Outcome) => boolean,
): unknown {
  switch (command.do) {
    case 'start':
    case 'collect':
    case 'signal':
    case 'within':
    case 'recorded':
    case 'publish':
    case 'values':
      return answer
    case 'settle': {
      const { results, claims, runs, queued } = answer as Record<string, unknown[]>
      const requeues = command.outcomes.some(isRequeue)
      return {
        // A repeated or late requeue may answer `settled` or `lost`: the step is already where it would put it.
        results: results!.map((result, n) => {
          const outcome = command.outcomes[n]!
          return isRequeue(outcome) && !isFirst(outcome) ? OPEN : result
        }),
        claims: sorted(claims!),
        runs: sorted(runs!),
        queued: requeues ? OPEN : queued,
      }
    }
    case 'upcoming': {
      // A store may keep and report hints of steps that need no claim any more, or not.
      const { deadlineInMs } = answer as { readonly deadlineInMs: number | null }
      return { claimInMs: OPEN, deadlineInMs: rounded(deadlineInMs) }
    }
    case 'sweep': {
      const { lostWorkers, recovered } = answer as { lostWorkers: unknown[]; recovered: object[] }
      // The clocks of two stores differ.
      const taken = recovered.map((step) => ({ ...step, startedAt: 0 }))
      return { lostWorkers: sorted(lostWorkers), recovered: sorted(taken) }
    }
    case 'drain':
      return (answer as { steps: { status: string }[] }[]).map((run) => ({
        ...run,
        steps: sorted(run.steps),
      }))
    default:
      return Array.isArray(answer) ? sorted(answer) : answer
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms)
}

function isRequeue({ type }: Outcome): boolean {
  return type === 'retry' || type === 'released' || type === 'waiting'
}

function sorted(items: readonly unknown[]): readonly string[] {
  return items.map(canonical).sort()
}

/** JSON text with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
  })
}
