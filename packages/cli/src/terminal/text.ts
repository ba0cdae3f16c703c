import stringWidth from 'string-width'

// Control and format characters, and separators of lines and paragraphs: what moves the cursor, hides or reorders text, or starts a command. Format
// characters that join emoji and scripts stay.
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu

/** A text from the store in one line, without anything that a terminal would obey. */
export function safe(text: string): string {
  return text.replaceAll(/\r?\n|\t/g, ' ').replaceAll(UNSAFE, '\ufffd')
}

/** The same with its line breaks. */
export function safeLines(text: string): readonly string[] {
  return text.split(/\r?\n/).map(safe)
}

/** How many columns a text takes. */
export function width(text: string): number {
  return stringWidth(text)
}

/** Cut to that many columns, the last of them an ellipsis. */
export function cut(text: string, columns: number): string {
  // A text of a payload may be long; what is not looked at costs nothing.
  const start = text.slice(0, columns * 8)
  if (start === text && width(text) <= columns) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(start)) {
    if (width(kept + segment) > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

/** Broken between words into lines of at most that many columns. A longer word stands alone. */
export function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').filter((each) => each !== '')) {
    if (line !== '' && width(line) + 1 + width(word) > columns) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}
