import { type JsonText, type StepPayloads, skipOf } from '../../adapter/index.ts'
import type { SerialisedError, SettledError } from '../../cause.ts'

/** The JSON text of a `Settled`, from a step's row as it is read with branches. A step that its definition skipped has none. */
export function settledText({
  failed,
  branch = null,
  output,
  error,
}: Pick<StepPayloads, 'failed' | 'branch' | 'output' | 'error'>): JsonText {
  if (failed) return failedText(error)
  return skipOf(branch) === undefined ? completedText(output) : null
}

export function completedText(output: JsonText): string {
  return output === null ? '{"status":"completed"}' : `{"status":"completed","output":${output}}`
}

/** `error` as it is stored. Stacks stay in the step's row: those of a map's many failed items would fill the map's output. */
export function failedText(error: JsonText): string {
  return `{"status":"failed","error":${withoutStacks(error)}}`
}

function withoutStacks(error: JsonText): JsonText {
  if (error?.includes('"stack"') !== true) return error
  return JSON.stringify(withoutStack(JSON.parse(error) as SerialisedError))
}

function withoutStack({ stack: _, cause, errors, ...error }: SerialisedError): SettledError {
  return {
    ...error,
    ...(cause === undefined ? {} : { cause: withoutStack(cause) }),
    ...(errors === undefined ? {} : { errors: errors.map(withoutStack) }),
  }
}
