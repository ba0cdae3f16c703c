/** `1 step`, `2 steps`. Regular nouns only. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Ends a text that somebody else wrote with a full stop, unless it ends a sentence already. Before anything is appended to it. */
export function sentence(text: string): string {
  const trimmed = text.trimEnd()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}
