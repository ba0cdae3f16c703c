/** The logger of engine and handlers, like `console` and winston's. Fields never hold payloads. For one of pino's, see `pinoLogger()`. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, unknown>>

/** Logs nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
