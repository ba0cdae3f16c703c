import { type JsonText, type StepPayloads, skipOf } from '../../adapter/index.ts'

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

export function failedText(error: JsonText): string {
  return `{"status":"failed","error":${error}}`
}
