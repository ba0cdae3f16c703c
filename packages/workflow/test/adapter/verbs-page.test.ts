import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { VERBS, type VerbFacts } from '../../src/adapter/index.ts'

const PAGE = new URL('../../../../docs/extending/write-an-adapter.md', import.meta.url)

it('the page for authors of adapters says of every verb what the code says', () => {
  const yes = (fact: boolean | undefined) => (fact === true ? 'yes' : '')
  const wanted = Object.entries<VerbFacts>(VERBS).map(
    ([name, { purpose, lostAnswer, contended, within, optional }]) =>
      `| \`${name}\` | ${purpose} | ${lostAnswer} | ${yes(contended)} | ${yes(within)} | ${yes(optional)} |`,
  )

  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))

  expect(rows).toEqual(wanted)
})
