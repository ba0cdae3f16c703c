import type { Adapter } from '../../adapter/index.ts'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../logger.ts'
import type { EventHub } from '../base/events.ts'
import type { Loop } from '../base/loop.ts'
import { pause, type Runtime, within } from '../base/runtime.ts'
import type { DueWatch } from './due-watch.ts'
import type { RunEnds } from './run-ends.ts'
import type { Session } from './session.ts'

/** How long handlers may take to react to their signal before the worker stops without them. */
const GRACE_MS = 500
/** The total time that a stopping worker has, after its handlers, to record its outcomes and to remove itself from the registry. */
const FLUSH_MS = 3_000
/** How often it checks whether that is done. */
const LOOK_MS = 20

export interface WorkerLoops {
  readonly lease: Loop
  readonly reconcile: Loop
  readonly claim: Loop
  readonly saga: Loop
  readonly housekeeping: Loop
  readonly due: DueWatch
  readonly ends: RunEnds
}

export interface DepartParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly log: Logger
  readonly events: EventHub
  readonly session: Session
  readonly loops: WorkerLoops
  /** How long handlers may continue before they are signalled. */
  readonly timeoutMs: number
}

/**
 * Stops a worker gracefully: claims nothing new, lets handlers end, signals those that take too long, releases the steps that still run (which
 * counts no failure), and leaves the registry. Renews the lease until the last outcome is recorded. Takes at most the timeout plus {@link GRACE_MS}
 * plus {@link FLUSH_MS}, even if the store does not answer: other workers get the remaining steps when the lease ends.
 */
export async function depart(parts: DepartParts): Promise<void> {
  const { session, loops, timeoutMs } = parts
  const { clock } = parts.runtime
  session.leave()
  const { claim, saga, housekeeping, due, ends } = loops
  const loopsEnded = Promise.all([claim, saga, housekeeping, due, ends].map((loop) => loop.stop()))
  const settled = () => session.isEmpty
  if (!(await until(settled, timeoutMs, clock))) {
    session.attempts.interrupt()
    await until(settled, GRACE_MS, clock)
    session.release()
  }
  const flushEndsAt = clock.now() + FLUSH_MS
  const left = () => Math.max(0, flushEndsAt - clock.now())
  await within(clock, left(), loopsEnded)
  // A claim or a start that was under way when the stop began may be answered only now, and its steps released.
  await until(settled, left(), clock)
  await within(clock, left(), letGoOfUnknown(parts, left))
  await within(clock, left(), Promise.all([loops.reconcile.stop(), loops.lease.stop()]))
  await within(clock, left(), signOff(parts))
}

/** Finds and releases steps leased by calls whose answers were lost, if the store answers in time. */
async function letGoOfUnknown({ session, loops, runtime }: DepartParts, left: () => number): Promise<void> {
  while (session.capacity.isDoubted && left() > 0) {
    loops.reconcile.wake()
    await pause(runtime.clock, LOOK_MS)
  }
  await until(() => session.isEmpty, left(), runtime.clock)
}

/** Waits until a condition holds, but no longer than `limitMs`. Resolves to whether it holds. */
async function until(condition: () => boolean, limitMs: number, clock: Clock): Promise<boolean> {
  const endsAt = clock.now() + limitMs
  while (!condition() && clock.now() < endsAt) await pause(clock, Math.min(LOOK_MS, limitMs))
  return condition()
}

async function signOff({ adapter, session, log, events }: DepartParts): Promise<void> {
  if (!session.isEmpty || session.capacity.isDoubted) {
    session.abandon()
    log.warn(
      'The worker stopped before every outcome was recorded; other workers get its steps when its lease ends.',
      {
        steps: session.attempts.size,
      },
    )
    return
  }
  try {
    await adapter.deregisterWorker({ workerId: session.workerId })
  } catch (error) {
    // Harmless: the row expires with its lease.
    log.warn('The worker could not be removed from the registry; its lease will run out.', { error })
    events.emit('error', { during: 'signing off', error })
  }
}
