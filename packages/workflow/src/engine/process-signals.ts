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

const OPTIONS = {
  signals: {
    sets: 'which signals stop the engine',
    takes: someOf(Object.keys(SIGNALS) as StopSignal[]),
    default: ['SIGTERM', 'SIGINT'],
  },
  timeout: { sets: 'how long handlers may go on', takes: duration(0, '1d'), default: '30s' },
  afterwards: {
    sets: 'what is called once the engine is closed',
    takes: callback<NonNullable<StopOnSignalsOptions['afterwards']>>(),
  },
  logger: {
    sets: 'where messages go',
    takes: having<Logger>('a logger with info and error', ['info', 'error']),
  },
} satisfies OptionTable

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
  checkArgument(CALL, 'the engine', engine, having<typeof engine>('an engine of createEngine()', ['close']))
  checkArgument(
    CALL,
    'the process',
    process,
    having<SignalledProcess>("Node's process", ['on', 'off', 'exit']),
  )
  const checked = checkOptions(CALL, options, OPTIONS)
  const { signals, timeout: timeoutMs, afterwards, logger: log = silentLogger } = checked

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
