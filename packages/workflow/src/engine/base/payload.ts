import type { JsonText } from '../../adapter/records.ts'
import { BelayError } from '../../errors.ts'
import { type Logger, silentLogger } from '../../logger.ts'
import { storableCut, unstorableIn } from '../../storable-text.ts'
import { messageOf } from '../../thrown.ts'
import { jsonFateOf, jsonLossIn } from './json-losses.ts'

const PATH_MAX_CHARS = 4_000

export interface PayloadOwner {
  /** The payload's description in errors: `Output of step "chargeCard"`. */
  readonly what: string
  readonly runId?: string | undefined
  readonly step?: string | undefined
  /** The option that sets the limit. Default `payloadMaxBytes`. */
  readonly limit?: string | undefined
  /** Gets a warning about what JSON changes, once for each subject. */
  readonly log?: Logger | undefined
  /** What has one warning, without ids. Default: `what`. */
  readonly subject?: string | undefined
}

/**
 * Turns a value into JSON text; `undefined` becomes "no value". `ownerOf` is called only for an error.
 *
 * @throws BelayError `payload_unserialisable` for what JSON refuses or loses, wherever it is: functions, symbols, bigints, cycles, Maps, Sets,
 * Errors and other objects without members of their own; and for strings with U+0000 or an unpaired surrogate. `payload_too_large` above `maxBytes`
 * (UTF-8).
 */
export function toJsonText(value: unknown, maxBytes: number, ownerOf: () => PayloadOwner): JsonText {
  if (value === undefined) return null
  const text = stringify(value, ownerOf)
  const fate = jsonFateOf(value)
  if (fate === 'lost' || fate === 'unknown') refuseLoss(value, ownerOf)
  if (fate === 'lost') throw unserialisable('of something in it JSON keeps nothing', ownerOf())
  checkPayloadSize(text, maxBytes, ownerOf)
  assertStorable(text, ownerOf)
  if (fate === 'changed') warnOfChange(value, ownerOf())
  return text
}

/** @throws BelayError `payload_too_large` above `maxBytes` (UTF-8). */
export function checkPayloadSize(text: string, maxBytes: number, ownerOf: () => PayloadOwner): void {
  const bytes = utf8Bytes(text, maxBytes)
  if (bytes <= maxBytes) return
  const owner = ownerOf()
  throw new BelayError(
    'payload_too_large',
    `${owner.what} is ${bytes} bytes as JSON; the limit is ${maxBytes}. Store the content elsewhere and return a reference to it, or raise \`${owner.limit ?? 'payloadMaxBytes'}\`.`,
    owner,
  )
}

export function fromJsonText(text: JsonText): unknown {
  return text === null ? undefined : JSON.parse(text)
}

function stringify(value: unknown, ownerOf: () => PayloadOwner): string {
  try {
    // Top-level functions and symbols give undefined instead of text, against the declared type.
    const text: string | undefined = JSON.stringify(value)
    if (text !== undefined) return text
  } catch (error) {
    refuseLoss(value, ownerOf)
    throw unserialisable(messageOf(error).split('\n')[0] ?? '', ownerOf())
  }
  refuseLoss(value, ownerOf)
  throw unserialisable(`its toJSON() gave nothing`, ownerOf())
}

function refuseLoss(value: unknown, ownerOf: () => PayloadOwner): void {
  const loss = jsonLossIn(value)
  if (loss?.fate !== 'lost') return
  const { what, path, becomes } = loss
  const holds = path === '$' ? `it is ${what}` : `it holds ${what} at ${cut(path)}`
  throw unserialisable(`${holds}, of which JSON keeps ${becomes}`, ownerOf())
}

function unserialisable(reason: string, owner: PayloadOwner): BelayError {
  return new BelayError(
    'payload_unserialisable',
    `${owner.what} cannot be stored as JSON: ${reason}. Give plain data: objects, arrays, strings, numbers, booleans, null.`,
    owner,
  )
}

/** The subjects about which a logger was warned. */
const warned = new WeakMap<Logger, Set<string>>()
/** Of a program that makes up workflows, not every one gets its warning. */
const SUBJECTS_MAX = 1_000

function warnOfChange(value: unknown, owner: PayloadOwner): void {
  const { log, what, subject = what, runId, step } = owner
  if (log === undefined || log === silentLogger) return
  const subjects = warned.get(log) ?? new Set()
  warned.set(log, subjects)
  if (subjects.has(subject) || subjects.size >= SUBJECTS_MAX) return
  const loss = jsonLossIn(value)
  if (loss === undefined) return
  subjects.add(subject)
  const holds = loss.path === '$' ? `is ${loss.what}` : `holds ${loss.what} at ${cut(loss.path)}`
  log.warn(
    `${subject} ${holds}, which has no form in JSON: it was stored as ${loss.becomes}. Give what JSON has a form for: null, a text or another number. This warning appears once.`,
    { runId, step },
  )
}

function assertStorable(text: string, ownerOf: () => PayloadOwner): void {
  const found = unstorableIn(text)
  if (found === undefined) return
  const owner = ownerOf()
  const at = found.path === '' ? '' : ` at ${cut(found.path)}`
  throw new BelayError(
    'payload_unserialisable',
    `${owner.what} cannot be stored: it holds ${found.what}${at}, which no text in PostgreSQL can hold. Leave the character out, or encode the value, as base64 for example.`,
    owner,
  )
}

/** The UTF-8 size of JSON text. */
export function jsonBytes(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Exact only near the limit: a text that fits even at 3 bytes for each character is not encoded. */
function utf8Bytes(text: string, maxBytes: number): number {
  return text.length * 3 <= maxBytes ? text.length : new TextEncoder().encode(text).length
}

function cut(path: string): string {
  return storableCut(path, PATH_MAX_CHARS)
}
