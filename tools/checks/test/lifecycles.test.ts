import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { RUN_TRANSITIONS, STEP_TRANSITIONS } from '../../../packages/workflow/src/adapter/lifecycle.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

it.each([
  ['run', RUN_TRANSITIONS],
  ['step', STEP_TRANSITIONS],
])(
  'the table of lifecycles of a %s names every status, and each one that can follow',
  (title, transitions) => {
    const allowed = transitions as Readonly<Record<string, readonly string[]>>
    const rows = rowsOf(title)

    expect(rows.flatMap(({ statuses }) => statuses).toSorted()).toEqual(Object.keys(allowed).toSorted())
    for (const { statuses, next } of rows) {
      const follow = new Set(statuses.flatMap((status) => allowed[status] ?? []))
      expect(next, statuses.join(', ')).toEqual([...follow].toSorted())
    }
  },
)

/** The rows of the table that begins with this word: the statuses in backticks of the first column and of the last. */
function rowsOf(title: string) {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const table = page.split(`\n| ${title} | means | next |\n`)[1]!.split('\n\n')[0]!
  const columns = table.split('\n').slice(1)
  return columns.map((row) => {
    const [, first = '', , last = ''] = row.split('|')
    return { statuses: words(first), next: [...new Set(words(last))].toSorted() }
  })
}

function words(text: string): readonly string[] {
  return [...text.matchAll(/`(\w+)`/g)].map((found) => found[1]!)
}
