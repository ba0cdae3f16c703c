import type { JsonText } from '../adapter/new-item.ts'

/** A payload as the very text that a handler or a sender gave. */
export class Json {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** As part of what only the machine reads. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }
}

/** Nothing for no value. */
export const jsonOf = (text: JsonText): Json | undefined => (text === null ? undefined : new Json(text))

/** What the machine made itself is written as JSON. */
export function textOf(value: unknown): JsonText {
  if (value === undefined || value === null) return null
  return value instanceof Json ? value.text : JSON.stringify(value)
}
