type Element = string | number | boolean | null | undefined

/** Elements that need no quotes in the text of an array: ids, numbers, statuses. */
const PLAIN = /^[\w.+-]+$/

/**
 * The text of a Postgres array. pg's own function quotes and escapes every element, but nearly all elements are ids, numbers and statuses, and
 * batches have thousands of them.
 */
export function listText(elements: readonly Element[]): string {
  let text = '{'
  for (const element of elements) {
    if (text.length > 1) text += ','
    text += typeof element === 'string' ? wordText(element) : (element ?? 'NULL')
  }
  return `${text}}`
}

function wordText(word: string): string {
  // Unquoted, NULL in any case would be read as null.
  if (PLAIN.test(word) && !/^null$/i.test(word)) return word
  return `"${word.replaceAll(/["\\]/g, '\\$&')}"`
}
