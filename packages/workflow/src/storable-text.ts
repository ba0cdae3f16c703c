/**
 * What every store, and every SQL query on it, can read as text. PostgreSQL's `text` and `jsonb` hold neither U+0000 nor half of a surrogate
 * pair; its `json` takes both as escapes and fails later, for all rows, when a query reads one with `->>` or casts to `jsonb`.
 */

const UNSTORABLE = /[\0\p{Cs}]/u
const EACH_UNSTORABLE = /[\0\p{Cs}]/gu

export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** For texts that Belay makes or keeps for people: U+0000 becomes the sign for it, ␀, and half a surrogate pair becomes �. */
export function storableText(text: string): string {
  return UNSTORABLE.test(text)
    ? text.replace(EACH_UNSTORABLE, (bad) => (bad === '\0' ? '\u2400' : '\ufffd'))
    : text
}

/** The first `length` characters, or one less where that would cut a character in two. */
export function cutText(text: string, length: number): string {
  const end = text.charCodeAt(length - 1)
  return text.slice(0, end >= 0xd800 && end <= 0xdbff ? length - 1 : length)
}

/** Where a JSON text holds what cannot be stored, as a path like `.items[3].name`, and what that is; undefined when all of it can be. */
export function unstorableIn(json: string): { readonly path: string; readonly what: string } | undefined {
  // JSON.stringify() writes both as escapes, and hardly anything else as one: a search settles it for nearly every payload.
  if (!json.includes('\\u') || !/\\u(?:0000|d[89a-f])/i.test(json)) return undefined
  return search(JSON.parse(json))
}

/** Without recursion: nesting may be deeper than the stack. */
function search(root: unknown): { readonly path: string; readonly what: string } | undefined {
  const open: Place[] = [{ value: root, key: '', within: undefined }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value } = place
    if (typeof value === 'string' && !isStorableText(value))
      return { path: pathOf(place), what: named(value) }
    if (typeof value !== 'object' || value === null) continue
    const members: Place[] = []
    for (const [key, member] of Object.entries(value)) {
      if (!isStorableText(key))
        return { path: pathOf(place), what: `${named(key)} in the name of a property` }
      members.push({ value: member, key: Array.isArray(value) ? `[${key}]` : `.${key}`, within: place })
    }
    open.push(...members.reverse())
  }
  return undefined
}

interface Place {
  readonly value: unknown
  readonly key: string
  readonly within: Place | undefined
}

function pathOf(place: Place): string {
  const keys: string[] = []
  for (let each: Place | undefined = place; each !== undefined; each = each.within) keys.push(each.key)
  return keys.reverse().join('')
}

function named(text: string): string {
  return text.includes('\0') ? 'the character U+0000' : 'half of a surrogate pair'
}
