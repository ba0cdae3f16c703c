import type { Adapter } from '../adapter/index.ts'
import type { Clock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { EventHub } from './events.ts'
import type { Loop } from './loop.ts'
import { pause, type Runtime, within } from './runtime.ts'
import type { Session } from './session.ts'

/** How long handlers get to react to their signal before the worker leaves without them. */
const GRACE_MS = 500
/** How long a leaving worker tries to record what it has. */
const FLUSH_MS = 5_000
/** How often it looks whether that is done. */
const LOOK_MS = 20

export interface WorkerLoops {
  readonly lease: Loop
  readonly claim: Loop
  readonly saga: Loop
  readonly housekeeping: Loop
  readonly due: Pick<Loop, 'wake' | 'stop'>
}

export interface DepartParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly log: Logger
  readonly events: EventHub
  readonly session: Session
  readonly loops: WorkerLoops
  /** How long handlers may go on before they are signalled. */
  readonly timeoutMs: number
}

/**
 * A worker's graceful end: takes on nothing new, lets handlers end, signals those that take too long, gives back what still runs without
 * spending its attempt, and signs off. The lease is renewed until the last outcome is recorded. Bounded at every point: what cannot be
 * recorded, because the store is away, is left to the lease's end.
 */
export async function depart(parts: DepartParts): Promise<void> {
  const { session, loops, timeoutMs } = parts
  const { clock } = parts.runtime
  session.leave()
  const { claim, saga, housekeeping, due } = loops
  const loopsEnded = Promise.all([claim, saga, housekeeping, due].map((loop) => loop.stop()))
  const settled = () => session.isEmpty
  if (!(await until(settled, timeoutMs, clock))) {
    session.interruptAll()
    await until(settled, GRACE_MS, clock)
    session.releaseAll()
    await until(settled, FLUSH_MS, clock)
  }
  await within(clock, FLUSH_MS, loopsEnded)
  // A claim that was under way when the stop began has been answered, and its steps let go of, only now. So may have been a start.
  await until(settled, FLUSH_MS, clock)
  await within(clock, FLUSH_MS, loops.lease.stop())
  await signOff(parts)
}

/** Waits until a condition holds, but no longer than `limitMs`. Resolves to whether it holds. */
async function until(condition: () => boolean, limitMs: number, clock: Clock): Promise<boolean> {
  const endsAt = clock.now() + limitMs
  while (!condition() && clock.now() < endsAt) await pause(clock, Math.min(LOOK_MS, limitMs))
  return condition()
}

async function signOff({ adapter, session, log, events }: DepartParts): Promise<void> {
  if (!session.isEmpty || session.intake.unsure) {
    session.abandon()
    log.warn('Left without recording everything; the steps return when the lease ends.', {
      steps: session.size,
    })
    return
  }
  try {
    await adapter.deregisterWorker({ workerId: session.workerId })
  } catch (error) {
    // The row expires on its own: nothing depends on this.
    log.warn('Could not sign off at the store.', { error })
    events.emit('error', { during: 'signing off', error })
  }
}
