type KeySource = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>

const CTRL_C = '\u0003'

/** The keys that the user presses, one by one. Without a terminal nobody presses any. */
export class Keyboard {
  readonly #source: KeySource | undefined
  readonly #listeners = new Set<(key: string) => void>()
  readonly #receive = (bytes: Buffer) => {
    for (const key of bytes.toString()) for (const listener of [...this.#listeners]) listener(key)
  }

  /** `source` is undefined if there is no keyboard. */
  constructor(source: KeySource | undefined) {
    this.#source = source
  }

  get isPresent(): boolean {
    return this.#source !== undefined
  }

  /** Begins to listen. The terminal then sends no signal for Ctrl-C, so `quit` is called for it, and for q; `hangUp` when the terminal is gone. */
  open({ quit, hangUp }: { quit: (key: 'q' | 'Ctrl-C') => void; hangUp: () => void }): void {
    if (this.#source === undefined) return
    this.#source.on('error', hangUp)
    this.#source.setRawMode(true)
    this.#source.on('data', this.#receive)
    this.#source.resume()
    this.onKey((key) => {
      if (key === CTRL_C) quit('Ctrl-C')
      else if (key === 'q') quit('q')
    })
  }

  /** Tells each key. Returns a function that ends that. */
  onKey(listener: (key: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Gives the terminal back as it was. */
  close(): void {
    if (this.#source === undefined) return
    this.#source.off('data', this.#receive)
    this.#source.setRawMode(false)
    this.#source.pause()
  }
}
