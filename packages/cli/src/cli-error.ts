import type { ExitStatus } from './exit-status.ts'

/** What a person at a terminal is told instead of a stack. */
export class CliError extends Error {
  readonly status: ExitStatus
  /** Commands that lead on, without `belay`. */
  readonly commands: readonly string[]

  constructor(
    message: string,
    { status, commands = [] }: { readonly status: ExitStatus; readonly commands?: readonly string[] },
  ) {
    super(message)
    this.name = 'CliError'
    this.status = status
    this.commands = commands
  }
}

/** Wrong use: nothing was done. */
export function misused(message: string, ...commands: readonly string[]): CliError {
  return new CliError(message, { status: 2, commands })
}

/** It was refused, or there is no such thing. */
export function refused(message: string, ...commands: readonly string[]): CliError {
  return new CliError(message, { status: 1, commands })
}
