/**
 * Rewrites a statement for a driver that Belay does not know. Drivers differ in how they send and parse every type but text. So each parameter becomes
 * a text, and each row one column `belay` with the row as JSON, whose values are those that `columnTypes` would give: statements return booleans,
 * numbers of 32 or 64 bits as float8, texts, ids, and lists of these.
 *
 * A statement that writes in its `with` clause cannot be a subquery. So its last part becomes one more part of that clause.
 */
export function jsonStatement(text: string): string {
  const { main, returnsRows, hasClauses, rewritten } = scanned(text)
  if (!returnsRows) return rewritten
  return `${rewritten.slice(0, main)}${hasClauses ? ',' : 'with'} belay_rows as (
${rewritten.slice(main)}
)
select pg_catalog.to_json(belay_row)::text as belay from belay_rows as belay_row`
}

interface Scanned {
  readonly rewritten: string
  /** Where the part after the `with` clause begins, in the rewritten text. */
  readonly main: number
  readonly hasClauses: boolean
  readonly returnsRows: boolean
}

/** Comments, quoted names and texts; parameters; parentheses; words. Anything else means nothing here. */
const TOKENS = /--[^\n]*|\/\*.*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$\d+|[()]|[a-z_]\w*/gis

const MAIN_VERBS: ReadonlySet<string> = new Set(['select', 'values', 'insert', 'update', 'delete'])
const READING_VERBS: ReadonlySet<string> = new Set(['select', 'values'])

function scanned(text: string): Scanned {
  let rewritten = ''
  let end = 0
  let depth = 0
  let main: { readonly at: number; readonly verb: string } | undefined
  let hasClauses = false
  let isReturning = false
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    rewritten += text.slice(end, index)
    end = index + token.length
    const word = token.toLowerCase()
    if (token === '(') depth += 1
    else if (token === ')') depth -= 1
    else if (depth === 0 && main !== undefined) isReturning ||= word === 'returning'
    else if (depth === 0 && word === 'with') hasClauses = true
    else if (depth === 0 && MAIN_VERBS.has(word)) main = { at: rewritten.length, verb: word }
    rewritten += token.startsWith('$') ? `${token}::text` : token
  }
  rewritten += text.slice(end)
  if (main === undefined) throw new Error(`This statement has no part after its with clause: ${text}`)
  return { rewritten, main: main.at, hasClauses, returnsRows: isReturning || READING_VERBS.has(main.verb) }
}
