import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { SerialisedError } from '../cause.ts'

/** The compiler prints this for a type that cannot be stored, so it must read as a sentence. No value has this type. */
export interface CannotBeStored<Sentence extends string> {
  readonly [cannotBeStored]: Sentence
}
declare const cannotBeStored: unique symbol

/**
 * The type itself if JSON keeps its values. Each part that JSON refuses or silently loses becomes a sentence. A type with `toJSON()` is accepted,
 * and so are `unknown` and `any`.
 */
export type Storable<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? Value
    : StorableMember<Value>

// Distributes over unions. Types may be recursive: the compiler resolves members of an object type lazily, but elements of an array type eagerly.
// So an array is written as an object type here.
type StorableMember<Value> = Value extends Primitive
  ? Value
  : Value extends bigint
    ? CannotBeStored<'A bigint has no JSON form: give a text instead.'>
    : Value extends symbol
      ? CannotBeStored<'A symbol has no JSON form: leave it out.'>
      : Value extends Callable
        ? CannotBeStored<'A function has no JSON form: leave it out, or give what it returns.'>
        : Value extends { toJSON(): unknown }
          ? Value
          : Value extends Keyed
            ? CannotBeStored<'JSON makes an empty object of a Map or a Set: give an array, like [...map].'>
            : IsError<Value> extends true
              ? CannotBeStored<'JSON makes an empty object of an Error: give its message, or throw it.'>
              : Value extends PromiseLike<unknown>
                ? CannotBeStored<'JSON makes an empty object of a promise: await it.'>
                : Value extends readonly unknown[]
                  ? { readonly [index: number]: Storable<Value[number]> }
                  : { readonly [Key in keyof Value]: Storable<Value[Key]> }

// biome-ignore lint/suspicious/noConfusingVoidType: what a handler gives that returns nothing
type Primitive = string | number | boolean | null | undefined | void
type Callable = ((...given: never) => unknown) | (abstract new (...given: never) => unknown)
type Keyed =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
// Plain data with a name and a message is not an error, and neither is an error as it is stored.
type IsError<Value> = Value extends Error
  ? 'stack' extends keyof Value
    ? IsStoredError<Value> extends true
      ? false
      : true
    : false
  : false
type IsStoredError<Value> = Value extends SerialisedError
  ? [keyof Value, keyof SerialisedError] extends [keyof SerialisedError, keyof Value]
    ? true
    : false
  : false

/** What a handler may return, directly or as a promise. Intersected with its actual return type. */
export type StorableOutput<Output> =
  Output extends PromiseLike<infer Value> ? StorableLater<Value> : Storable<Output>

// Not a promise type: the compiler would bury the sentence among the members of Promise.
type StorableLater<Value> = [Value] extends [Storable<Value>] ? unknown : Storable<Value>

/** A schema whose values can be stored, or a sentence that says why not. Intersected with the schema. */
export type StorableSchema<Schema extends StandardSchemaV1> = [StandardSchemaV1.InferOutput<Schema>] extends [
  Storable<StandardSchemaV1.InferOutput<Schema>>,
]
  ? unknown
  : CannotBeStored<'What this schema gives is stored as JSON, which has no form for a bigint, a symbol, a function, a Map, a Set or an Error.'>
