import { BelayError } from '../errors.ts'

const TAGS_MAX = 20
const LENGTH_MAX = 200

/**
 * Checks tags: 1 to 20 texts of 1 to 200 characters, each once. `what` begins the message. Throws `invalid_option`.
 */
export function checkTags(what: string, tags: unknown): readonly string[] {
  if (!Array.isArray(tags)) throw refused(what, `must be an array of texts; got ${shown(tags)}`)
  if (tags.length > TAGS_MAX) throw refused(what, `may be ${TAGS_MAX} at most; got ${tags.length}`)
  // Also where the array has holes, which forEach would pass over.
  for (let index = 0; index < tags.length; index += 1) checkTag(`${what}[${index}]`, tags[index])
  const double = tags.find((tag, index) => tags.indexOf(tag) !== index)
  if (double !== undefined) throw refused(what, `has ${JSON.stringify(double)} twice; give each tag once`)
  return [...tags]
}

function checkTag(what: string, tag: unknown): void {
  if (typeof tag !== 'string') throw refused(what, `must be a text; got ${shown(tag)}`)
  if (tag.length === 0 || tag.length > LENGTH_MAX) {
    throw refused(what, `must have 1 to ${LENGTH_MAX} characters; got ${tag.length}`)
  }
  // NUL is the one character PostgreSQL's text cannot hold; half of a surrogate pair is no character at all.
  if (tag.includes('\0')) throw refused(what, 'contains NUL, which no store can keep')
  if (/\p{Surrogate}/u.test(tag)) throw refused(what, 'contains half of a surrogate pair')
}

function refused(what: string, why: string): BelayError {
  return new BelayError('invalid_option', `${what} ${why}.`)
}

function shown(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : typeof value
}
