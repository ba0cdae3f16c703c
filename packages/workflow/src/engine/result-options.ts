import type { Clock, Timer } from '../clock.ts'
import { type Duration, durationMs } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { checkNames, durationBetween, invalidOption } from './call-options.ts'

const TIMEOUT_MAX: Duration = '3650d'

/** How long to wait for the end of a run. */
export interface ResultOptions {
  /** Milliseconds, or a text like `'30s'`. Then the wait ends with `result_timeout`; the run goes on. Default: no limit. */
  readonly timeout?: Duration | undefined
  /** Ends the wait with `result_aborted` once it is aborted; its reason is the error's cause. The run goes on. */
  readonly signal?: AbortSignal | undefined
}

/** The same, checked. */
export interface Patience {
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal | undefined
}

/** Throws `invalid_option`. */
export function checkResultOptions(options: ResultOptions = {}): Patience {
  checkNames('result()', options, ['timeout', 'signal'])
  const { timeout, signal } = options
  const timeoutMs =
    timeout === undefined
      ? undefined
      : durationBetween('result()', 'timeout', timeout, 1, durationMs(TIMEOUT_MAX, 'the longest timeout'))
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw invalidOption('result()', 'signal', signal, 'an AbortSignal')
  }
  return { timeoutMs, signal }
}

/** Calls `giveUp` when a wait has lasted too long or is aborted. Returns how to call that off. */
export function limitWait(
  wait: Partial<Patience> & {
    readonly clock: Clock
    readonly runId: string
    readonly giveUp: (error: BelayError) => void
  },
): () => void {
  const { clock, runId, timeoutMs, signal, giveUp } = wait
  let timer: Timer | undefined
  if (timeoutMs !== undefined) {
    const until = clock.now() + timeoutMs
    const check = () => {
      const leftMs = until - clock.now()
      // The longest timer of a process is 25 days.
      if (leftMs > 0) timer = clock.after(leftMs, check)
      else giveUp(resultTimeout(runId, timeoutMs))
    }
    timer = clock.after(timeoutMs, check)
  }
  const onAbort = () => giveUp(resultAborted(runId, signal!))
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    timer?.cancel()
    signal?.removeEventListener('abort', onAbort)
  }
}

export function resultAborted(runId: string, signal: AbortSignal): BelayError {
  return new BelayError(
    'result_aborted',
    `The wait for the result of run ${runId} was aborted by its signal. The run goes on: await it again with result(), or stop it with cancel().`,
    { runId, cause: signal.reason },
  )
}

function isAbortSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null) return false
  const { aborted, addEventListener } = value as Partial<AbortSignal>
  return typeof aborted === 'boolean' && typeof addEventListener === 'function'
}

function resultTimeout(runId: string, timeoutMs: number): BelayError {
  return new BelayError(
    'result_timeout',
    `Run ${runId} had not ended ${timeoutMs} ms after its result was awaited. The run goes on: await it again with result(), ask with explain() what it waits for, or stop it with cancel().`,
    { runId },
  )
}
