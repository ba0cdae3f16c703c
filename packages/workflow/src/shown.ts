import { cutText } from './storable-text.ts'

const SHOWN_MAX = 60
const CREDENTIALS = /:\/\/[^/\s]*@/

/**
 * Formats any value for a message: short and on one line. Never shows the content of an object, which may be a payload, or the credentials in a
 * URL. Never throws.
 */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return CREDENTIALS.test(value) ? 'a URL with credentials' : quoted(value)
    case 'bigint':
      return cut(`${value}n`)
    case 'symbol':
    case 'function':
      return `a ${typeof value}`
    case 'object':
      return value === null ? 'null' : shownObject(value)
    default:
      return String(value)
  }
}

/** A string in quotes, with quotes, backslashes and control characters escaped. */
function quoted(text: string): string {
  return JSON.stringify(cut(text))
}

function cut(text: string): string {
  if (text.length <= SHOWN_MAX) return text
  return `${cutText(text, SHOWN_MAX)}…`
}

function shownObject(value: object): string {
  try {
    if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : value.toISOString()
    const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
    return tag === 'Object' ? 'an object' : `${/^[AEIOU]/.test(tag) ? 'an' : 'a'} ${cut(tag)}`
  } catch {
    return 'an object that cannot be read'
  }
}

/** The name of an option for a message, or another word if there is none. */
export function nameOf(option: unknown, otherwise: string): string {
  return typeof option === 'string' && option.trim() !== '' ? option : otherwise
}
