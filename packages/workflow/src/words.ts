/** `1 step`, `2 steps`. Regular nouns only. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Ends a text with a full stop unless it already ends a sentence, so that another sentence can follow. */
export function sentence(text: string): string {
  const trimmed = text.trimEnd()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
