/** The logger of engine and handlers. Fields are flat and never hold payloads. pino, winston and `console` need a small wrapper. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

export type LogFields = Readonly<Record<string, unknown>>

/** The default: logs nothing. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
