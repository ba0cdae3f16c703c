import { type Shape, shape } from './drawing.ts'

const WIDE =
  /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]|\p{Emoji_Presentation}/u
const RIGHT_TO_LEFT = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc]/
/** No XML file may hold them, escaped or not; or, the last two ranges, they would let a name read as another one. */
const FORBIDDEN = /\p{Cc}|\p{Cs}|[\ufffe\uffff\u202a-\u202e\u2066-\u2069]/gu
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A text that a file may hold, and that cannot turn the direction of its neighbours. */
export function safeText(text: string): string {
  const clean = text.replace(FORBIDDEN, '\ufffd')
  return RIGHT_TO_LEFT.test(clean) ? `\u2068${clean}\u2069` : clean
}

function emOf(char: string): number {
  if (WIDE.test(char)) return 1.05
  if (/[iljtf.,:;'|! ()[\]]/.test(char)) return 0.38
  return /[A-Zmw@%×…]/.test(char) ? 0.76 : 0.62
}

/** By code: nearly all names are ASCII, and 10,000 of them are measured for one layout. */
const ASCII = Float64Array.from({ length: 128 }, (_, code) => emOf(String.fromCharCode(code)))

/** About how wide a text is, in pixels. Without a font to ask, it is as in a wide face. */
export function textWidth(text: string, size = 12): number {
  let em = 0
  for (const char of text) em += ASCII[char.codePointAt(0)!] ?? emOf(char)
  return em * size
}

/** The text, or its begin with an ellipsis, within `widthMax` pixels. Whole graphemes are left out. */
export function fitText(text: string, widthMax: number, size = 12): string {
  // No text of this length fits: do not measure a megabyte.
  const begin = text.slice(0, Math.ceil(widthMax) + 100)
  if (begin.length === text.length && textWidth(text, size) <= widthMax) return text
  const room = widthMax - textWidth('…', size)
  let fitted = ''
  let width = 0
  for (const { segment } of graphemes.segment(begin)) {
    width += textWidth(segment, size)
    if (width > room) break
    fitted += segment
  }
  return `${fitted.trimEnd()}…`
}

/** A `text` element whose text fits into `widthMax` pixels; if it is cut, its `title` is the whole. */
export function textShape(
  text: string,
  {
    widthMax = Number.POSITIVE_INFINITY,
    size = 12,
    ...attributes
  }: { widthMax?: number; size?: number } & Shape['attributes'],
  ...more: readonly (Shape | string)[]
): Shape {
  const fitted = fitText(text, widthMax, size)
  const title = fitted === text ? [] : [shape('title', {}, safeText(text))]
  return shape('text', attributes, ...title, safeText(fitted), ...more)
}

/** What can be read in shapes, in their order. The accessible name has to begin with it. */
export function visibleText(shapes: readonly (Shape | string)[]): string {
  const parts = shapes.map((part) => {
    if (typeof part === 'string') return part
    return part.tag === 'title' ? '' : visibleText(part.children)
  })
  return parts
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' ')
}

/** To a tenth of a pixel: shorter files, and the same ones on every machine. */
export function px(value: number): number {
  return Math.round(value * 10) / 10
}
