import { type LogFields, type Logger, silentLogger } from '../../logger.ts'
import { watchAnswer } from '../../thenable.ts'
import type { Context } from './context.ts'

/** A user's logger that cannot fail its caller. */
export interface GuardedLoggers {
  /** For the engine's own messages: called in the engine's context. */
  readonly log: Logger
  /** For handlers: called in the handler's own context. */
  readonly handlerLog: Logger
}

/** A logger that throws, or returns a promise that rejects, fails nobody. The first such failure is told to the console. */
export function guardLogger(given: Logger, context: Context): GuardedLoggers {
  if (given === silentLogger) return { log: given, handlerLog: given }
  let isTold = false
  const failed = (error: unknown) => {
    if (isTold) return
    isTold = true
    tellConsole(error)
  }
  const guarded = (run: (tell: () => void) => void): Logger => {
    const write = (level: keyof Logger) => (message: string, fields?: LogFields) => {
      const tell = (): unknown =>
        fields === undefined ? given[level](message) : given[level](message, fields)
      try {
        run(() => watchAnswer(tell(), failed))
      } catch (error) {
        failed(error)
      }
    }
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  }
  return { log: guarded((tell) => context.run(tell)), handlerLog: guarded((tell) => tell()) }
}

function tellConsole(error: unknown): void {
  try {
    console.error(
      '[belay] The logger failed. Messages may be missing, and further failures of this logger are not reported. Correct the `logger` that you gave.',
      error,
    )
  } catch {
    // The console cannot show what was thrown.
  }
}
