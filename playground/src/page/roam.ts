/** Where a key leads from an element among others: to one of them, or nowhere. */
export type Way = (elements: readonly SVGElement[], from: number, key: string) => SVGElement | undefined

/** Up and down, to the first and to the last. */
export const vertical: Way = (elements, from, key) => {
  const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: elements.length - 1 }[key]
  return to === undefined ? undefined : elements[to]
}

/** Moves the one tab stop of a drawing with the arrow keys. */
export function roam(event: KeyboardEvent & { currentTarget: Element }, selector: string, way: Way): void {
  const elements = [...event.currentTarget.querySelectorAll<SVGElement>(selector)]
  const from = elements.indexOf((event.target as Element).closest(selector) as SVGElement)
  const to = from === -1 ? undefined : way(elements, from, event.key)
  if (to === undefined) return
  event.preventDefault()
  event.stopPropagation()
  for (const element of elements) element.setAttribute('tabindex', element === to ? '0' : '-1')
  to.focus()
}
