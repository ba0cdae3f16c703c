const encoder = new TextEncoder()

/** Writes messages of PostgreSQL's extended query protocol, one after the other. All parameters and columns are texts. */
export class ProtocolMessages {
  #bytes = new Uint8Array(4_096)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  /** Prepares a statement under a name, of which there must not be one. */
  parse(statement: string, text: string): this {
    return this.#message('P', () => {
      this.#text(statement)
      this.#text(text)
      this.#int16(0)
    })
  }

  /** Makes the prepared statement with these values the one to execute. */
  bind(statement: string, values: readonly (string | null)[]): this {
    return this.#message('B', () => {
      this.#text('')
      this.#text(statement)
      this.#int16(0)
      this.#int16(values.length)
      for (const value of values) this.#value(value)
      this.#int16(0)
    })
  }

  /** Asks for the columns of a prepared statement. */
  describe(statement: string): this {
    return this.#message('D', () => {
      this.#bytes[this.#length++] = 'S'.charCodeAt(0)
      this.#text(statement)
    })
  }

  execute(): this {
    return this.#message('E', () => {
      this.#text('')
      this.#int32(0)
    })
  }

  /** Deletes a prepared statement. It is no error if there is none. */
  close(statement: string): this {
    return this.#message('C', () => {
      this.#bytes[this.#length++] = 'S'.charCodeAt(0)
      this.#text(statement)
    })
  }

  /** Ends the transaction, unless BEGIN was called. After an error, the server skips all messages up to this one. */
  sync(): this {
    return this.#message('S', () => {})
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  #message(type: string, write: () => void): this {
    this.#reserve(64)
    this.#bytes[this.#length++] = type.charCodeAt(0)
    const begin = this.#length
    this.#length += 4
    write()
    this.#view.setInt32(begin, this.#length - begin)
    return this
  }

  #text(text: string): void {
    this.#encode(text)
    this.#bytes[this.#length++] = 0
  }

  #value(value: string | null): void {
    this.#int32(-1)
    if (value === null) return
    const begin = this.#length
    this.#encode(value)
    this.#view.setInt32(begin - 4, this.#length - begin)
  }

  #encode(text: string): void {
    // A UTF-16 unit takes three bytes at most. The rest is for what follows the text.
    this.#reserve(3 * text.length + 64)
    this.#length += encoder.encodeInto(text, this.#bytes.subarray(this.#length)).written
  }

  #int16(value: number): void {
    this.#reserve(64)
    this.#view.setInt16(this.#length, value)
    this.#length += 2
  }

  #int32(value: number): void {
    this.#reserve(64)
    this.#view.setInt32(this.#length, value)
    this.#length += 4
  }

  #reserve(bytes: number): void {
    if (this.#bytes.length - this.#length >= bytes) return
    const grown = new Uint8Array(2 * (this.#length + bytes))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
