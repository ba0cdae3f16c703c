import type { StepDefinition } from '../../definition/step.ts'
import { type Logger, silentLogger } from '../../logger.ts'

/** Outputs of one step that are looked at: what one of so many does not lose, the others hardly do. */
const LOOKS_MAX = 100

/**
 * Warns, once for each step, of what JSON loses without a word: NaN and Infinity become null, and a Map, a Set or an Error becomes {}. The
 * compiler finds most of that, but not numbers, and nothing in what is typed as unknown.
 */
export class LossyOutputs {
  readonly #log: Logger
  readonly #looks = new WeakMap<StepDefinition, number>()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Looks at an output that was turned into this text. Costs a search of the text, unless there may be something to find. */
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
      `Output of step "${step.name}" holds ${what}${at}, which has no form in JSON: it was stored as ${becomes}. Return what JSON has a form for: null or a text, an array, a message. This is told once for each step.`,
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
      // What it is stored as is its own affair.
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
    // A hostile object: what it holds was stored, and nobody needs to know more.
  }
  return undefined
}

/** Neither a list nor plain: what it holds, JSON does not see. */
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
