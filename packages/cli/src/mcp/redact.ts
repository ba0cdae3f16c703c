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

/** A document without payloads. An error’s message counts as one, also where a sentence quotes it. */
export function withoutPayloads(document: unknown): unknown {
  const messages = [...messagesIn(document, false)].filter((message) => message.length > 0)
  const longestFirst = messages.toSorted((one, other) => other.length - one.length)
  return hidden(document, longestFirst)
}

function* messagesIn(value: unknown, isError: boolean): Iterable<string> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    if (isError && (key === 'message' || key === 'stack') && typeof inner === 'string') yield inner
    else yield* messagesIn(inner, key === 'error' || (isError && key === 'cause'))
  }
}

function hidden(value: unknown, messages: readonly string[]): unknown {
  if (typeof value === 'string')
    return messages.reduce((text, message) => text.replaceAll(message, '…'), value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => hidden(each, messages))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      PAYLOADS.has(key) && inner !== null ? HIDDEN : hidden(inner, messages),
    ]),
  )
}
