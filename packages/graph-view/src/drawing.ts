/** A drawing as data: elements of SVG with attributes and children. One function draws; a browser renders it as elements, a test or an export as text. */
export interface Shape {
  readonly tag:
    | 'g'
    | 'rect'
    | 'path'
    | 'circle'
    | 'text'
    | 'tspan'
    | 'title'
    | 'defs'
    | 'pattern'
    | 'line'
    | 'svg'
  /** No event handlers, no inline styles: a strict CSP forbids both. Looks are classes. */
  readonly attributes: Readonly<Record<string, string | number | undefined>>
  readonly children: readonly (Shape | string)[]
}

export interface Drawing {
  readonly width: number
  readonly height: number
  readonly shapes: readonly Shape[]
}

export function shape(
  tag: Shape['tag'],
  attributes: Shape['attributes'] = {},
  ...children: readonly (Shape | string)[]
): Shape {
  return { tag, attributes, children }
}

/** The text of a drawing as a file. All texts and attributes are escaped. `style` is CSS that stands inside. */
export function svgText(
  { width, height, shapes }: Drawing,
  { style = '', label }: { readonly style?: string; readonly label: string },
): string {
  const inside = style === '' ? '' : `<style>${style}</style>`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(label)}">${inside}${shapes.map(textOf).join('')}</svg>\n`
}

/** What only a page can do: in a file nothing is focused or spoken. */
const FOR_PAGES = /^(role|tabindex|aria-.*|data-.*)$/

function textOf({ tag, attributes, children }: Shape): string {
  const pairs = Object.entries(attributes).flatMap(([name, value]) =>
    value === undefined || FOR_PAGES.test(name) ? [] : [` ${name}="${escaped(String(value))}"`],
  )
  const inside = children
    .map((child) => (typeof child === 'string' ? escaped(child) : textOf(child)))
    .join('')
  return `<${tag}${pairs.join('')}>${inside}</${tag}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
