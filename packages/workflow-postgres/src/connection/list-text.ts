type Element = string | number | boolean | null | undefined

/** What neither an array's text nor its reader takes for anything else: ids, numbers, statuses. */
const PLAIN = /^[\w.+-]+$/

/**
 * A list as the text of a Postgres array. Ours rather than pg's, which quotes and escapes every element, though nearly all of them are ids,
 * numbers and statuses; batches have thousands.
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
  // A bare NULL, however it is written, would be none.
  if (PLAIN.test(word) && !/^null$/i.test(word)) return word
  return `"${word.replaceAll(/["\\]/g, '\\$&')}"`
}
