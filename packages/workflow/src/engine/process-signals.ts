import { systemClock } from '../clock.ts'
import type { Duration } from '../duration.ts'
import { type Logger, silentLogger } from '../logger.ts'
import {
  callback,
  checkArgument,
  checkOptions,
  duration,
  having,
  type OptionTable,
  someOf,
} from '../options/index.ts'
import { Context } from './base/context.ts'
import { guardLogger } from './base/guarded-logger.ts'
import { answerOf } from './base/user-code.ts'

/** The possible signals with their numbers. A process ended by a signal exits with 128 plus its number. */
const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGUSR2: 12, SIGTERM: 15 } as const

export type StopSignal = keyof typeof SIGNALS

/** The part of Node's `process` that is used. */
export interface SignalledProcess {
  on(signal: StopSignal, listener: () => void): unknown
  off(signal: StopSignal, listener: () => void): unknown
  exit(code: number): unknown
}

export interface StopOnSignalsOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly StopSignal[]
  /**
   * How long handlers may continue before they are signalled and their steps released. Default 30 s. Must be less than your platform waits before
   * it kills the process.
   */
  readonly timeout?: Duration
  /** Called once the engine is closed: close your own pools and servers here. The process waits for it 30 s at most. */
  readonly afterwards?: () => void | Promise<void>
  /** Default: logs nothing. */
  readonly logger?: Logger
}

const CALL = 'stopOnSignals()'

const OPTIONS = {
  signals: {
    sets: 'which signals stop the engine',
    takes: someOf(Object.keys(SIGNALS) as StopSignal[]),
    default: ['SIGTERM', 'SIGINT'],
  },
  timeout: { sets: 'how long handlers may continue', takes: duration(0, '1d'), default: '30s' },
  afterwards: {
    sets: 'what is called once the engine is closed',
    takes: callback<NonNullable<StopOnSignalsOptions['afterwards']>>(),
  },
  logger: {
    sets: 'where log messages go',
    takes: having<Logger>('a logger with info and error', ['info', 'error']),
  },
} satisfies OptionTable

/**
 * Closes an engine when the process gets a stop signal. On the first signal it claims nothing more, lets handlers end until the timeout, releases
 * the steps that still run, closes, calls `afterwards`, and exits with 0 (with 1 if that failed). A second signal exits at once, as without this
 * function; the worker's steps then go to other workers when its lease ends.
 *
 * Returns a function that removes the listeners.
 *
 * @throws BelayError `invalid_option`.
 */
export function stopOnSignals(
  engine: { close(options: { readonly timeout: Duration }): Promise<void> },
  process: SignalledProcess,
  options: StopOnSignalsOptions = {},
): () => void {
  checkArgument(CALL, 'the engine', engine, having<typeof engine>('an engine of createEngine()', ['close']))
  checkArgument(
    CALL,
    'the process',
    process,
    having<SignalledProcess>("Node's process", ['on', 'off', 'exit']),
  )
  const checked = checkOptions(CALL, options, OPTIONS)
  const { signals, timeout: timeoutMs, afterwards, logger = silentLogger } = checked
  const { log } = guardLogger(logger, new Context())

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
      await answerOf(systemClock, '`afterwards` of stopOnSignals()', () => afterwards?.())
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
