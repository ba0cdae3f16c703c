import cliTruncate from 'cli-truncate'
import stringWidth from 'string-width'
import wrapAnsi from 'wrap-ansi'

/** How many columns and rows a terminal has. Both are infinite for output that is no terminal. */
export interface Size {
  readonly columns: number
  readonly rows: number
}

/** A line that a small terminal can do without. */
export interface SpareLine {
  readonly spare: string
}

/** The columns that a text takes: none for colours, two for a wide character. */
export function widthOf(text: string): number {
  return stringWidth(text)
}

/** The text in at most so many columns. What was cut ends with an ellipsis. */
export function cut(text: string, columns: number): string {
  let shown = text
  // cli-truncate may keep a wide character too many.
  for (let room = columns; widthOf(shown) > columns && room > 0; room -= 1) shown = cliTruncate(text, room)
  return shown
}

/** The text with spaces behind it until it takes so many columns; a longer one is cut. */
export function padded(text: string, columns: number): string {
  const shown = cut(text, columns)
  return shown + ' '.repeat(Math.max(0, columns - widthOf(shown)))
}

/**
 * A line as several of at most so many columns, broken between words. The others are indented like the words of the first, which begin behind a mark
 * such as `✔`, `1.` or a time if it has one.
 */
export function wrapped(line: string, columns: number): readonly string[] {
  if (widthOf(line) <= columns) return [line]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a mark may be coloured.
  const lead = /^ *(?:(?:\u001b\[\d+m)*(?:[^\sa-zA-Z0-9]|\d+\.(?:\d+ s)?)(?:\u001b\[\d+m)* +)?/.exec(line)![0]
  const indent = Math.min(widthOf(lead), Math.floor(columns / 2))
  const text = wrapAnsi(line.slice(lead.length), columns - indent, { hard: true })
  return text.split('\n').map((part, index) => (index === 0 ? lead : ' '.repeat(indent)) + part)
}

/**
 * Lines that fit on a page: cut at its right, and as few of the spare lines left out as need be. Empty ones go first, from the last one up; the others
 * only all together, since a part of them would look wrong.
 */
export function fitted(lines: readonly (string | SpareLine)[], { columns, rows }: Size): readonly string[] {
  const isEmpty = (line: string | SpareLine) => typeof line !== 'string' && line.spare === ''
  const empty = lines.filter(isEmpty).length
  const emptyAreEnough = lines.length - rows <= empty
  const kept = emptyAreEnough ? lines : lines.filter((line) => typeof line === 'string' || line.spare === '')
  const texts = textsOf(withoutLast(kept, isEmpty, kept.length - rows))
  return texts.slice(0, rows).map((text) => cut(text, columns))
}

/** The lines without so many of those that may go, the last ones first. */
function withoutLast<Line>(
  lines: readonly Line[],
  mayGo: (line: Line) => boolean,
  count: number,
): readonly Line[] {
  let left = count
  return lines
    .toReversed()
    .filter((line) => !mayGo(line) || left-- <= 0)
    .toReversed()
}

/** All lines, the spare ones too. */
export function textsOf(lines: readonly (string | SpareLine)[]): readonly string[] {
  return lines.map((line) => (typeof line === 'string' ? line : line.spare))
}
