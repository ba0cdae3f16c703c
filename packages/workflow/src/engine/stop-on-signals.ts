import type { Duration } from '../duration.ts'
import { type Logger, silentLogger } from '../logger.ts'
import { checkNames, durationBetween, invalidOption } from './call-options.ts'

/** The signals that can be asked for, with their numbers: a process that a signal ends exits with 128 and its number. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR2: 12, SIGTERM: 15 } as const

export type StopSignal = keyof typeof SIGNALS

/** What is used of Node's `process`. */
export interface SignalledProcess {
  on(signal: StopSignal, listener: () => void): unknown
  off(signal: StopSignal, listener: () => void): unknown
  exit(code: number): unknown
}

export interface StopOnSignalsOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly StopSignal[]
  /** How long handlers may go on before they are signalled and their steps given back. Default 30 s: less than your platform waits. */
  readonly timeout?: Duration
  /** Called once the engine is closed: the place to close pools and servers of your own. */
  readonly afterwards?: () => void | Promise<void>
  /** Default: says nothing. */
  readonly logger?: Logger
}

const CALL = 'stopOnSignals()'

/**
 * Closes an engine when the process is told to stop: on the first signal it claims nothing more, lets handlers end until the timeout,
 * gives back what still runs without spending an attempt, closes, calls `afterwards`, and exits with 0 (with 1 if that failed). A second
 * signal exits at once, as the signal alone would have; what the worker held then returns when its lease ends.
 *
 * Returns how to take the listeners away again.
 *
 * @throws BelayError `invalid_option`.
 */
export function stopOnSignals(
  engine: { close(options: { readonly timeout: Duration }): Promise<void> },
  process: SignalledProcess,
  options: StopOnSignalsOptions = {},
): () => void {
  checkNames(CALL, options, ['signals', 'timeout', 'afterwards', 'logger'])
  const signals = checkSignals(options.signals ?? ['SIGTERM', 'SIGINT'])
  const timeoutMs = durationBetween(CALL, 'timeout', options.timeout ?? '30s', 0, 86_400_000)
  const { afterwards, logger: log = silentLogger } = options

  let stopping = false
  let gone = false
  const exit = (code: number) => {
    if (gone) return
    gone = true
    leave()
    process.exit(code)
  }
  const stop = async (signal: StopSignal): Promise<void> => {
    stopping = true
    log.info('Stopping.', { signal })
    let code = 0
    try {
      await engine.close({ timeout: timeoutMs })
      await afterwards?.()
    } catch (error) {
      code = 1
      log.error('Stopping failed.', { signal, error })
    }
    exit(code)
  }

  const listeners = signals.map((signal) => {
    const listener = () => {
      if (stopping) exit(128 + SIGNALS[signal])
      else void stop(signal)
    }
    process.on(signal, listener)
    return { signal, listener }
  })
  const leave = () => {
    for (const { signal, listener } of listeners) process.off(signal, listener)
  }
  return leave
}

function checkSignals(signals: readonly StopSignal[]): readonly StopSignal[] {
  const known = `one or more of ${Object.keys(SIGNALS).join(', ')}`
  if (!Array.isArray(signals) || signals.length === 0) throw invalidOption(CALL, 'signals', signals, known)
  for (const signal of signals) {
    if (!Object.hasOwn(SIGNALS, signal)) throw invalidOption(CALL, 'signals', signal, known)
  }
  return [...new Set(signals)]
}
