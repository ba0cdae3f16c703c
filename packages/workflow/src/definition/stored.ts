import type { Jsonify } from 'type-fest'

/**
 * A value after a round trip through the store, as JSON: a `Date` becomes a string, a `Map` an empty object. `undefined` and `void` become
 * `undefined`; `unknown` and `any` stay.
 */
export type Stored<Value> = 0 extends 1 & Value
  ? Value
  : unknown extends Value
    ? unknown
    : StoredMember<Value>

// Distributes over unions: Jsonify alone would drop `undefined` from `Receipt | undefined`. (undefined extends void.)
type StoredMember<Value> = Value extends void ? undefined : Jsonify<Value>
