import { type JsonText, sentence } from '@belay/workflow/adapter'

/** Why the store refuses a payload, or undefined when it takes it. It stores JSON text verbatim, but only JSON. */
export function refusalOf(payload: JsonText): string | undefined {
  if (payload === null) return undefined
  try {
    JSON.parse(payload)
    return undefined
  } catch (error) {
    return `a payload is not JSON: ${sentence(error instanceof Error ? error.message : String(error))}`
  }
}
