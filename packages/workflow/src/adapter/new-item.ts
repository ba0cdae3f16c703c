/** A payload as JSON text. `null` stands for "no value" (`undefined`); the JSON value null is the text `'null'`. */
export type JsonText = string | null

/**
 * An item of a map. `key` is unique within its map, and part of the item's idempotency key. Of a round of a loop, the key is its number from 1, and the
 * value is the output of the round before.
 */
export interface NewItem {
  readonly key: string
  readonly value: JsonText
}
