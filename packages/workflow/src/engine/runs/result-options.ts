import type { Clock, Timer } from '../../clock.ts'
import { type Duration, durationText } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { abortSignal, checkOptions, duration, type OptionTable } from '../../options/index.ts'

/** How long to wait for the end of a run, or for the result of a step. */
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
  timeout: { sets: 'how long to wait', takes: duration('1ms') },
  signal: { sets: 'the signal that ends the wait', takes: abortSignal },
} satisfies OptionTable

/** Throws `invalid_option`. */
export function checkResultOptions(options: ResultOptions = {}, call = 'result()'): Patience {
  const { timeout: timeoutMs, signal } = checkOptions(call, options, OPTIONS)
  return { timeoutMs, signal }
}

/** Calls `giveUp` when a wait has timed out or is aborted. Returns a function that cancels this. */
export function limitWait(
  wait: Partial<Patience> & {
    readonly clock: Clock
    readonly runId: string
    /** The awaited step; without it, the run's end is awaited. */
    readonly step?: string | undefined
    /** A last sentence for the error of a wait that has timed out. Never rejects. */
    readonly advice: (runId: string) => Promise<string>
    readonly giveUp: (error: BelayError) => void
  },
): () => void {
  const { clock, runId, timeoutMs, signal, giveUp, advice } = wait
  let timer: Timer | undefined
  let isStopped = false
  const timeOut = async (waitedMs: number) => {
    const last = await advice(runId)
    if (!isStopped) giveUp(resultTimeout(wait, waitedMs, last))
  }
  if (timeoutMs !== undefined) {
    const until = clock.now() + timeoutMs
    const check = () => {
      const leftMs = until - clock.now()
      // A timer lasts at most 25 days: set it again.
      if (leftMs > 0) timer = clock.after(leftMs, check)
      else void timeOut(timeoutMs)
    }
    timer = clock.after(timeoutMs, check)
  }
  const onAbort = () => giveUp(resultAborted(wait, signal!))
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => {
    isStopped = true
    timer?.cancel()
    signal?.removeEventListener('abort', onAbort)
  }
}

/** What is awaited: a run's end, or the result of one of its steps. */
export interface Awaited {
  readonly runId: string
  readonly step?: string | undefined
}

export function resultAborted({ runId, step }: Awaited, signal: AbortSignal): BelayError {
  const what = step === undefined ? `run ${runId}` : `step "${step}" of run ${runId}`
  const again = step === undefined ? 'result()' : 'step()'
  return new BelayError(
    'result_aborted',
    `The wait for the result of ${what} was aborted by its signal. The run goes on: await it again with ${again}, or stop it with cancel().`,
    { runId, step, cause: signal.reason },
  )
}

function resultTimeout({ runId, step }: Awaited, timeoutMs: number, advice: string): BelayError {
  const what =
    step === undefined ? `Run ${runId} had not ended` : `Step "${step}" of run ${runId} had no result`
  const again = step === undefined ? 'result()' : 'step()'
  return new BelayError(
    'result_timeout',
    `${what} ${durationText(timeoutMs)} after its result was awaited. The run goes on: await it again with ${again}, ask with explain() what it waits for, or stop it with cancel().${advice}`,
    { runId, step },
  )
}
