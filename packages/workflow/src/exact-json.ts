/**
 * `JSON.parse()` for what a person typed: it refuses a number that would change in silence, because a double does not hold it. `0.1` and `1.50` pass;
 * `9007199254740993` would become another number, and `1e400` null. Throws a `SyntaxError` for what is not JSON, and a `RangeError` whose message
 * names the number, its path and what it would become.
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const found = inexactNumber(text)
  if (found === undefined) return value
  const { literal, path } = found
  const where = path === '$' ? '' : ` at ${path}`
  throw new RangeError(
    `JSON cannot keep the number ${shortened(literal)}${where}: it would become ${JSON.stringify(Number(literal))}. Give it as a text, in double quotes.`,
  )
}

// Of valid JSON every token but literals like `true`; a text that a colon follows is a key.
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"(?:\s*:)?|-?\d[\d.eE+-]*|[[\]{},]/g

/** An open array with the index of its current element, or an open object with its current key. */
type Level = { index: number } | { key: string }

/** The first number of a valid JSON text that a double does not hold. */
function inexactNumber(text: string): { readonly literal: string; readonly path: string } | undefined {
  const levels: Level[] = []
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1)
    if (token === '[') levels.push({ index: 0 })
    else if (token === '{') levels.push({ key: '' })
    else if (token === ']' || token === '}') levels.pop()
    else if (token === ',') {
      if (level !== undefined && 'index' in level) level.index += 1
    } else if (token.startsWith('"')) {
      if (level !== undefined && 'key' in level && token.endsWith(':')) {
        level.key = JSON.parse(token.slice(0, -1)) as string
      }
    } else if (!isExact(token)) return { literal: token, path: pathOf(levels) }
  }
  return undefined
}

/** Whether the double of a number prints as the number that was typed, whatever its notation. */
function isExact(literal: string): boolean {
  const double = Number(literal)
  if (!Number.isFinite(double)) return false
  const [typed, printed] = [decimalOf(literal), decimalOf(String(double))]
  return typed.digits === printed.digits && typed.exponent === printed.exponent
}

/** Digits without zeros at their ends, times ten to the power of the exponent. Both zeros are one number. */
function decimalOf(number: string): { readonly digits: string; readonly exponent: bigint } {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.slice(0, lastNonZero(all) + 1)
  if (digits === '') return { digits, exponent: 0n }
  return { digits, exponent: BigInt(power) + BigInt(all.length - digits.length - fraction.length) }
}

// A pattern like /0+$/ would take quadratic time on many zeros before a last digit.
function lastNonZero(digits: string): number {
  let at = digits.length - 1
  while (at >= 0 && digits[at] === '0') at -= 1
  return at
}

const LITERAL_CHARS_MAX = 60

function shortened(literal: string): string {
  return literal.length <= LITERAL_CHARS_MAX ? literal : `${literal.slice(0, LITERAL_CHARS_MAX)}…`
}

function pathOf(levels: readonly Level[]): string {
  const parts = levels.map((level) => {
    if ('index' in level) return `[${level.index}]`
    return /^[A-Za-z_$][\w$]*$/.test(level.key) ? `.${level.key}` : `[${JSON.stringify(level.key)}]`
  })
  return `$${parts.join('')}`
}
