/**
 * Text that every store and every SQL query can read. PostgreSQL's `text` and `jsonb` cannot hold U+0000 or an unpaired surrogate. Its `json`
 * accepts both as escapes, but a later query that reads one with `->>` or casts it to `jsonb` fails for all rows.
 */

const UNSTORABLE = /[\0\p{Cs}]/u
const EACH_UNSTORABLE = /[\0\p{Cs}]/gu

export function isStorableText(text: string): boolean {
  return !UNSTORABLE.test(text)
}

/** For texts meant for people: replaces U+0000 by ␀ and an unpaired surrogate by �. */
export function storableText(text: string): string {
  return UNSTORABLE.test(text)
    ? text.replace(EACH_UNSTORABLE, (bad) => (bad === '\0' ? '\u2400' : '\ufffd'))
    : text
}

/** The first `length` UTF-16 code units, or one less to keep a surrogate pair whole. */
export function cutText(text: string, length: number): string {
  const end = text.charCodeAt(length - 1)
  return text.slice(0, end >= 0xd800 && end <= 0xdbff ? length - 1 : length)
}

/** A text for people, shortened to `lengthMax` UTF-16 code units and an ellipsis. */
export function storableCut(text: string, lengthMax: number): string {
  return storableText(text.length <= lengthMax ? text : `${cutText(text, lengthMax)}…`)
}

/** Finds text in JSON that cannot be stored: its path, like `$.items[3].name`, and what it is. Undefined if everything can be stored. */
export function unstorableIn(json: string): { readonly path: string; readonly what: string } | undefined {
  // JSON.stringify() escapes both as \u and few other characters: for nearly every payload this search is enough.
  if (!json.includes('\\u') || !/\\u(?:0000|d[89a-f])/i.test(json)) return undefined
  return search(JSON.parse(json))
}

/** Iterative: the nesting may be deeper than the stack. */
function search(root: unknown): { readonly path: string; readonly what: string } | undefined {
  const open: Place[] = [{ value: root, key: '', within: undefined }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { value } = place
    if (typeof value === 'string' && !isStorableText(value))
      return { path: pathOf(place), what: named(value) }
    if (typeof value !== 'object' || value === null) continue
    // The last first: the stack gives them back in order.
    for (const [key, member] of Object.entries(value).reverse()) {
      if (!isStorableText(key))
        return { path: pathOf(place), what: `${named(key)} in the name of a property` }
      open.push({ value: member, key: Array.isArray(value) ? `[${key}]` : `.${key}`, within: place })
    }
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
  for (let each = place; each.within !== undefined; each = each.within) keys.push(each.key)
  return keys.length === 0 ? '' : `$${keys.reverse().join('')}`
}

function named(text: string): string {
  return text.includes('\0') ? 'the character U+0000' : 'half of a surrogate pair'
}
