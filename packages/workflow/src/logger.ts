/** Where the engine and handlers log to. Fields are flat and never hold payloads. pino, winston and `console` fit after a small wrap. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, unknown>>

/** The default: says nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
