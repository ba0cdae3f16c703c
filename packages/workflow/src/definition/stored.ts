import type { SerialisedError, SettledError } from '../cause.ts'

/**
 * A value after a round trip through the store, as JSON: a `Date` becomes a string, a `Map` an empty object. `undefined` and `void` become
 * `undefined`; `unknown` and `any` stay.
 */
export type Stored<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? unknown
    : StoredMember<Value>

// Distributes over unions. (undefined extends void.)
// Written for the compiler's time too: a definition carries this type of each of its steps, and every further step looks at all of them.
type StoredMember<Value> = Value extends void
  ? undefined
  : Value extends string | number | boolean | null
    ? Value
    : Value extends { toJSON(): infer Json }
      ? Stored<Json>
      : Value extends number
        ? number
        : Value extends string
          ? string
          : Value extends boolean
            ? boolean
            : Value extends Keyed
              ? Readonly<Record<never, never>>
              : Value extends Lost
                ? never
                : Value extends readonly unknown[]
                  ? StoredList<Value>
                  : Value extends object
                    ? StoredObject<Value>
                    : never

type Keyed = ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
type Lost = bigint | symbol | ((...given: never) => unknown) | (abstract new (...given: never) => unknown)

// Of an array, the compiler maps members eagerly, and would never end with a recursive type. It defers the element of an array that is written out.
type StoredList<List extends readonly unknown[]> = number extends List['length']
  ? StoredElement<List[number]>[]
  : { -readonly [Index in keyof List]: StoredElement<List[Index]> }

// JSON arrays have no undefined.
type StoredElement<Value> = Value extends Lost | undefined ? null : Stored<Value>

type StoredObject<Value> = [Extract<Value[keyof Value], Lost | undefined>] extends [never]
  ? { [Key in keyof Value]: Stored<Value[Key]> }
  : Same<Value, SettledError> extends true
    ? SettledError
    : Same<Value, SerialisedError> extends true
      ? SerialisedError
      : LooseObject<Value>

// Stored errors keep their names: they nest in themselves, and TypeScript 5 would write `any` into declarations.
type Same<One, Other> = [keyof One, One, Other] extends [keyof Other, Other, One] ? true : false

/** Members that may be undefined are optional afterwards, and members that JSON leaves out are missing. */
type LooseObject<Value> =
  // As one object. Not by a type of its own: TypeScript 5 would write its name into declarations, where nothing exports it.
  LooseMembers<Value> extends infer Members ? { [Key in keyof Members]: Members[Key] } : never

type LooseMembers<Value> = {
  [Key in keyof Value as undefined extends Value[Key] ? never : Kept<Key, Value[Key]>]: Stored<Value[Key]>
} & {
  [Key in keyof Value as undefined extends Value[Key] ? Kept<Key, Value[Key]> : never]?: Stored<
    Exclude<Value[Key], undefined>
  >
}

type Kept<Key, Member> = [Exclude<Member, Lost | undefined>] extends [never]
  ? unknown extends Member
    ? Key
    : never
  : Key
