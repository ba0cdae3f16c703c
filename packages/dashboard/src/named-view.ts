/** A filter of Runs by name: its query as in the address, without a question mark. */
export interface NamedView {
  readonly name: string
  readonly query: string
}
