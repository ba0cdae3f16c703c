import type { SerialisedError } from '../../cause.ts'
import { BelayError } from '../../errors.ts'
import { storableCut } from '../../storable-text.ts'
import { isErrorLike, isErrorOfAnyRealm, unshowable } from '../../thrown.ts'
import { framesOf } from './stack-frames.ts'

const MESSAGE_MAX_CHARS = 4_000
const CAUSE_DEPTH_MAX = 5
/** Inner errors, like those of `Promise.any()`: so many in the whole of a stored error. */
const INNER_MAX = 8
const INNER_MESSAGE_MAX_CHARS = 1_000
/** So many are told in the message of the error that holds them. */
const INNER_TOLD_MAX = 3

/** Turns a thrown value into a stored error: name, message, code, causes, inner errors, and stacks if they are wanted. Never throws. */
export function serialiseError(thrown: unknown, { stacks }: { readonly stacks: boolean }): SerialisedError {
  return serialise(thrown, {
    depth: 1,
    stacks,
    messageMax: MESSAGE_MAX_CHARS,
    whole: { innerLeft: INNER_MAX },
  })
}

/** Where in the error a level is. */
interface Level {
  readonly depth: number
  readonly stacks: boolean
  readonly messageMax: number
  readonly whole: { innerLeft: number }
}

/** Handles each level separately: a cause that cannot be read must not hide the error above it. */
function serialise(thrown: unknown, level: Level): SerialisedError {
  try {
    return serialiseLevel(thrown, level)
  } catch {
    // The value's getters, traps or toString() threw.
    return { name: 'Error', message: unshowable(thrown) }
  }
}

function serialiseLevel(thrown: unknown, level: Level): SerialisedError {
  const cut = (text: string) => storableCut(text, level.messageMax)
  if (!isErrorLike(thrown) && !isErrorOfAnyRealm(thrown) && !BelayError.is(thrown))
    return { name: 'Error', message: cut(describe(thrown)) }
  const { name, message, code, cause } = thrown as Record<'name' | 'message' | 'code' | 'cause', unknown>
  const frames = level.stacks ? framesOf(thrown as { readonly message: unknown }) : undefined
  const inner = innerErrors(thrown, level)
  const below = { ...level, depth: level.depth + 1 }
  return {
    name: cut(String(name)),
    message: cut(withInner(String(message), inner)),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: cut(String(code)) } : {}),
    ...(cause !== undefined && level.depth < CAUSE_DEPTH_MAX ? { cause: serialise(cause, below) } : {}),
    ...(inner.length === 0 ? {} : { errors: inner }),
    ...(frames === undefined ? {} : { stack: frames }),
  }
}

/** Those of an `AggregateError`, whatever they are, and of others that hold errors: not the issues of a validation. Only the first has a stack. */
function innerErrors(thrown: object, { depth, stacks, whole }: Level): readonly SerialisedError[] {
  const { name, errors } = thrown as { readonly name?: unknown; readonly errors?: unknown }
  if (!Array.isArray(errors) || depth >= CAUSE_DEPTH_MAX) return []
  if (name !== 'AggregateError' && !errors.every(isErrorLike)) return []
  const found: SerialisedError[] = []
  for (const each of errors as readonly unknown[]) {
    if (whole.innerLeft === 0) break
    whole.innerLeft -= 1
    const level = {
      depth: depth + 1,
      stacks: stacks && found.length === 0,
      messageMax: INNER_MESSAGE_MAX_CHARS,
      whole,
    }
    found.push(serialise(each, level))
  }
  return found
}

/** Node refuses a host with two addresses with an error that has no message of its own. */
function withInner(message: string, inner: readonly SerialisedError[]): string {
  if (inner.length === 0) return message
  const told = inner.slice(0, INNER_TOLD_MAX).map((each) => each.message || each.name)
  const more = inner.length > INNER_TOLD_MAX ? [`and ${inner.length - INNER_TOLD_MAX} more`] : []
  return [message, [...told, ...more].join('; ')].filter((part) => part !== '').join(': ')
}

function describe(thrown: unknown): string {
  if (typeof thrown !== 'object') return String(thrown)
  return JSON.stringify(thrown, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}
