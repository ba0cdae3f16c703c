import type { Clock, Timer } from '../../clock.ts'
import type { Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { abortSignal, checkOptions, duration, type OptionTable } from '../../options/index.ts'

/** How long to wait for the end of a run. */
export interface ResultOptions {
  /** Milliseconds, or a string like `'30s'`. After that the wait ends with `result_timeout`; the run continues. Default: no limit. */
  readonly timeout?: Duration | undefined
  /** Aborting it ends the wait with `result_aborted`, with the abort reason as the error's cause. The run continues. */
  readonly signal?: AbortSignal | undefined
}

/** The checked options. */
export interface Patience {
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal | undefined
}

const OPTIONS = {
  timeout: { sets: 'how long to wait for the end of the run', takes: duration('1ms') },
  signal: { sets: 'the signal that ends the wait', takes: abortSignal },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkResultOptions(options: ResultOptions = {}): Patience {
  const { timeout: timeoutMs, signal } = checkOptions('result()', options, OPTIONS)
  return { timeoutMs, signal }
}

/** Calls `giveUp` when a wait has timed out or is aborted. Returns a function that cancels this. */
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
      // A timer lasts at most 25 days: set it again.
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

function resultTimeout(runId: string, timeoutMs: number): BelayError {
  return new BelayError(
    'result_timeout',
    `Run ${runId} had not ended ${timeoutMs} ms after its result was awaited. The run goes on: await it again with result(), ask with explain() what it waits for, or stop it with cancel().`,
    { runId },
  )
}
