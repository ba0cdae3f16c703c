import type { LogFields, Logger } from '../../logger.ts'

/** Development mode's logger: writes to the console, errors with their stacks. */
export const consoleLogger: Logger = {
  debug: (message, fields) => write('debug', message, fields),
  info: (message, fields) => write('info', message, fields),
  warn: (message, fields) => write('warn', message, fields),
  error: (message, fields) => write('error', message, fields),
}

/** The default: warnings and errors, so that a handler that fails is seen. */
export const warningLogger: Logger = {
  debug() {},
  info() {},
  warn: consoleLogger.warn,
  error: consoleLogger.error,
}

/** The error comes last, as an argument of its own: so every console shows its stack. */
function write(level: keyof Logger, message: string, { error, ...fields }: LogFields = {}): void {
  const shown = Object.keys(fields).length === 0 ? [] : [fields]
  const failure = error === undefined ? [] : [error]
  console[level](`[belay] ${message}`, ...shown, ...failure)
}
