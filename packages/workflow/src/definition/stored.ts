import type { Jsonify } from 'type-fest'

/**
 * A value after a round trip through the store, as JSON: a `Date` comes back as a text, a `Map` as an empty object. `undefined` and no
 * value at all stay `undefined`; `unknown` and `any` stay what they are.
 */
export type Stored<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? unknown
    : StoredMember<Value>

// Distributes over unions: Jsonify alone would drop the undefined of `Receipt | undefined`. (undefined extends void.)
type StoredMember<Value> = Value extends void ? undefined : Jsonify<Value>
