import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * SHA-256, as hex, of the caller's input before the schema. Independent of the order of keys. Null if the content cannot be read: a cycle, or an
 * object with private content.
 */
export function inputHash(input: unknown): string | null {
  try {
    return bytesToHex(sha256(utf8ToBytes(canonicalText(input, '') ?? 'undefined')))
  } catch {
    return null
  }
}

/**
 * JSON with sorted keys. Values without a JSON form get one here, so that different values hash differently. Undefined for values that JSON leaves
 * out. Not JSON.stringify() with a replacer, which takes four times as long.
 */
function canonicalText(given: unknown, key: string): string | undefined {
  const value = withoutToJson(given, key)
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
    case 'boolean':
      return String(value === 0 ? 0 : value)
    case 'bigint':
      return `${value}n`
    case 'object':
      return value === null ? 'null' : Array.isArray(value) ? listText(value) : objectText(value)
    default:
      return undefined
  }
}

function withoutToJson(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value
  return typeof value.toJSON === 'function' ? value.toJSON(key) : value
}

function listText(values: readonly unknown[]): string {
  return `[${values.map((value, index) => canonicalText(value, String(index)) ?? 'null').join()}]`
}

function objectText(value: object): string {
  if (value instanceof Map) return `Map${listText([...value])}`
  if (value instanceof Set) return `Set${listText([...value])}`
  const keys = Object.keys(value)
  if (keys.length === 0 && !isPlain(value)) throw new TypeError('Its content cannot be read.')
  let text = ''
  for (const key of keys.sort()) {
    const member = canonicalText((value as Readonly<Record<string, unknown>>)[key], key)
    if (member !== undefined) text += `${JSON.stringify(key)}:${member},`
  }
  return `{${text}}`
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
