import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Where the workflow is defined, from the repository's root. */
export const SOURCE_FILE = 'examples/src/order/fulfil-order.ts'

/** The workflow's definition, as it stands in its source file. */
export async function readDefinition(): Promise<readonly string[]> {
  const path = fileURLToPath(new URL(`../../../${SOURCE_FILE}`, import.meta.url))
  const lines = (await readFile(path, 'utf8')).split('\n')
  const first = lines.findIndex((line) => line.includes('define('))
  const last = lines.indexOf('}', first)
  // Without the indentation within the function that returns it.
  return lines.slice(first, last).map((line) => line.replace(/^ {2}/, ''))
}
