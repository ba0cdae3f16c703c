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
  if (start === text && widest(text) <= columns) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(start)) {
    if (widest(kept + segment) > columns - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** How many columns a text takes at most: terminals differ in whether joined emoji are one sign. */
function widest(text: string): number {
  return Math.max(
    width(text),
    [...text].reduce((sum, sign) => sum + width(sign), 0),
  )
}

export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - width(text)))
}

/** Broken between words into lines of at most that many columns; a longer word is broken too. */
export function wrap(text: string, columns: number): readonly string[] {
  const room = Math.max(columns, 8)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((each) => broken(each, room))) {
    if (line !== '' && width(line) + 1 + width(word) > room) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' ? lines : [...lines, line]
}

function broken(word: string, columns: number): readonly string[] {
  if (width(word) <= columns) return word === '' ? [] : [word]
  const parts = ['']
  for (const { segment } of new Intl.Segmenter().segment(word)) {
    if (width(parts.at(-1)! + segment) > columns) parts.push(segment)
    else parts[parts.length - 1] += segment
  }
  return parts
}

/** What is left of a text that is longer than a person reads, and how much is not shown. */
export function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  return `${text.slice(0, charsMax).trimEnd()}… (${(text.length - charsMax).toLocaleString('en-US')} more characters: --json has them)`
}
