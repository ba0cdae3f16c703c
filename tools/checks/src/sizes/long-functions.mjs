import { parseSync, Visitor } from 'oxc-parser'

/** What a function's body may have: lines with code, markup or SQL. A comment counts as one line, however long; a blank line as none. */
export const LINES_MAX = 40

/**
 * The lengths of the functions, and of the texts in backticks outside of functions, that are longer than that, in the order of the file.
 * @param {string} path selects the parser's language, and appears in messages
 * @param {string} source
 * @returns {number[]}
 */
export function longFunctions(path, source) {
  const { program, comments, errors } = parseSync(path, source)
  const [error] = errors
  if (error !== undefined) throw new Error(`${path} can't be parsed: ${error.message}`)
  const lineOf = linesOf(source)
  const uncounted = new Set(source.split('\n').flatMap((line, index) => (line.trim() === '' ? [index] : [])))
  for (const { start, end } of comments) {
    for (let line = lineOf(start) + 1; line <= lineOf(end); line += 1) uncounted.add(line)
  }
  /** @type {{ readonly start: number, readonly end: number, readonly lines: number }[]} */
  const found = []
  /** @param {{ start: number, end: number, type: string }} body */
  const measure = ({ start, end, type }) => {
    // The lines of braces and parentheses around a body are not counted.
    const edge = AROUND.has(type) ? 1 : 0
    let lines = 0
    for (let line = lineOf(start) + edge; line <= lineOf(end) - edge; line += 1)
      if (!uncounted.has(line)) lines += 1
    found.push({ start, end, lines })
  }
  new Visitor({
    FunctionDeclaration: ({ body }) => body && measure(body),
    FunctionExpression: ({ body }) => body && measure(body),
    ArrowFunctionExpression: ({ body }) => measure(body),
    TemplateLiteral: measure,
  }).visit(program)
  const long = found.filter(({ lines }) => lines > LINES_MAX)
  const outer = long.filter(
    (one) => !long.some((other) => other !== one && other.start <= one.start && one.end <= other.end),
  )
  return outer.toSorted((one, other) => one.start - other.start).map(({ lines }) => lines)
}

const AROUND = new Set(['BlockStatement', 'FunctionBody', 'ParenthesizedExpression'])

/** @param {string} source @returns {(position: number) => number} the line of a position, from 0 */
function linesOf(source) {
  const starts = [0]
  for (let at = source.indexOf('\n'); at >= 0; at = source.indexOf('\n', at + 1)) starts.push(at + 1)
  return (position) => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((starts[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}
