import type { StepDefinition } from '../../definition/step.ts'
import { type Logger, silentLogger } from '../../logger.ts'

/** How many outputs of one step are checked. If none of them loses anything, later ones hardly will. */
const LOOKS_MAX = 100

/**
 * Warns, once for each step, about values that JSON loses silently: NaN and Infinity become null, and a Map, a Set or an Error becomes {}. The
 * compiler finds most of these, but not the numbers, and nothing in `unknown`.
 */
export class LossyOutputs {
  readonly #log: Logger
  readonly #looks = new WeakMap<StepDefinition, number>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Checks an output against its JSON text. It usually costs only a search of the text. */
  look(step: StepDefinition, runId: string, output: unknown, text: string): void {
    if (this.#log === silentLogger || !(text.includes('null') || text.includes('{}'))) return
    const looks = this.#looks.get(step) ?? 0
    if (looks >= LOOKS_MAX) return
    const loss = lossIn(output)
    this.#looks.set(step, loss === undefined ? looks + 1 : LOOKS_MAX)
    if (loss === undefined) return
    const { what, path, becomes } = loss
    const at = path === '' ? '' : ` at ${path}`
    this.#log.warn(
      `Output of step "${step.name}" holds ${what}${at}, which has no form in JSON: it was stored as ${becomes}. Return what JSON has a form for: null or a text, an array, a message. This warning appears once for each step.`,
      { runId, step: step.name },
    )
  }
}

interface Loss {
  readonly what: string
  readonly path: string
  readonly becomes: 'null' | '{}'
}

function lossIn(output: unknown): Loss | undefined {
  const seen = new Set<object>()
  const open: { readonly value: unknown; readonly path: string }[] = [{ value: output, path: '' }]
  try {
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const { value, path } = place
      if (typeof value === 'number' && !Number.isFinite(value)) {
        return { what: String(value), path, becomes: 'null' }
      }
      if (typeof value !== 'object' || value === null || seen.has(value)) continue
      // Its toJSON() decides what is stored: nothing is lost silently.
      if ('toJSON' in value) continue
      seen.add(value)
      const keys = Object.keys(value)
      if (keys.length === 0 && isOpaque(value)) {
        return { what: `a ${value.constructor.name}`, path, becomes: '{}' }
      }
      const isList = Array.isArray(value)
      for (const key of keys.reverse()) {
        const member = (value as Readonly<Record<string, unknown>>)[key]
        open.push({ value: member, path: `${path}${isList ? `[${key}]` : `.${key}`}` })
      }
    }
  } catch {
    // The object throws when it is read a second time. It was stored, so skip the warning.
  }
  return undefined
}

/** Neither an array nor a plain object: JSON does not see its content. */
function isOpaque(value: object): boolean {
  if (
    Array.isArray(value) ||
    value instanceof String ||
    value instanceof Number ||
    value instanceof Boolean
  ) {
    return false
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && Object.getPrototypeOf(prototype) !== null
}
