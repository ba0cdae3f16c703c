/** Keeps everything that is written to it. */
export class Paper {
  text = ''
  readonly isTTY: boolean
  readonly columns = 100
  readonly rows = 40

  constructor({ isTTY = false }: { readonly isTTY?: boolean } = {}) {
    this.isTTY = isTTY
  }

  write(text: string): boolean {
    this.text += text
    return true
  }
}
