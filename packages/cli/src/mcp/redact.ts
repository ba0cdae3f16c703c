/** Fields of the API that hold values of users. */
const PAYLOADS: ReadonlySet<string> = new Set([
  'input',
  'output',
  'values',
  'payload',
  'data',
  'change',
  'note',
])

const HIDDEN = '[hidden: start belay mcp with --payloads to see it]'

/** A document without payloads. Of an error only name and code are told. Sentences were built without payloads already. */
export function withoutPayloads(document: unknown): unknown {
  return eachField(document, (key, value) => {
    if (PAYLOADS.has(key)) return value === null ? null : HIDDEN
    return key === 'error' ? withoutMessage(value) : withoutPayloads(value)
  })
}

/** Whatever else an error carries may quote payloads; below it are its causes. */
function withoutMessage(error: unknown): unknown {
  if (typeof error === 'string') return HIDDEN
  return eachField(error, (key, value) => (key === 'name' || key === 'code' ? value : withoutMessage(value)))
}

function eachField(value: unknown, told: (key: string, value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => eachField(each, told))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, told(key, inner)]))
}
