import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Where the workflow is defined, from the repository's root. */
export const SOURCE_FILE = 'examples/src/order/fulfil-order.ts'

/** The first lines of the workflow's definition, as they stand in its source file, and how many more there are. */
export async function firstSourceLines(
  lines: number,
): Promise<{ readonly shown: readonly string[]; readonly more: number }> {
  const path = fileURLToPath(new URL(`../../../${SOURCE_FILE}`, import.meta.url))
  const all = (await readFile(path, 'utf8')).split('\n')
  const first = all.findIndex((line) => line.includes('define('))
  const last = all.lastIndexOf('}')
  const definition = all.slice(first, last)
  // The indentation within the function that returns it.
  const shown = definition.slice(0, lines).map((line) => line.replace(/^ {2}/, ''))
  return { shown, more: definition.length - shown.length }
}
