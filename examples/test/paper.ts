/** Keeps everything that is written to it. */
export class Paper {
  text = ''
  readonly isTTY: boolean
  columns = 100
  rows = 40
  #onResize = () => {}

  constructor({ isTTY = false }: { readonly isTTY?: boolean } = {}) {
    this.isTTY = isTTY
  }

  on(_event: 'resize', listener: () => void): void {
    this.#onResize = listener
  }

  resize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.columns = columns
    this.rows = rows
    this.#onResize()
  }

  write(text: string): boolean {
    this.text += text
    return true
  }
}
