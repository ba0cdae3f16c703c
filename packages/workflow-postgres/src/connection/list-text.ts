type Element = string | number | boolean | null | undefined

/** Elements that need no quotes in the text of an array: ids, numbers, statuses. */
const PLAIN = /^[\w.+-]+$/
/** Control characters and surrogates: JSON may have escapes for these that an array does not know. */
const ESCAPED = /[^ -\ud7ff\ue000-\uffff]/

/**
 * The text of a Postgres array. pg's own function quotes and escapes every element, but nearly all elements are ids, numbers and statuses, and
 * batches have thousands of them.
 */
export function listText(elements: readonly Element[]): string {
  return `{${elements.map(elementText).join(',')}}`
}

function elementText(element: Element): string | number | boolean {
  return typeof element === 'string' ? wordText(element) : (element ?? 'NULL')
}

function wordText(word: string): string {
  // Unquoted, NULL in any case would be read as null.
  if (PLAIN.test(word) && !/^null$/i.test(word)) return word
  // Quotes and backslashes look the same in JSON, which is several times as fast.
  if (!ESCAPED.test(word)) return JSON.stringify(word)
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
