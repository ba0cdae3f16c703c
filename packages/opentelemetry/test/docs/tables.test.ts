import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { INSTRUMENTS, type Instrument } from '../../src/index.ts'
import { prometheusName } from '../../src/prometheus.ts'
import { ATTRIBUTES } from '../../src/traces/attributes.ts'

const page = readFileSync(new URL('../../../../docs/observability.md', import.meta.url), 'utf8')

/** The lines of a table of the page below this head. */
function tableUnder(head: string): readonly string[] {
  const lines = page.split('\n')
  const first = lines.indexOf(head) + 2
  return lines.slice(first, lines.indexOf('', first))
}

describe('docs/observability.md', () => {
  it('has every attribute of spans, in the words of the source', () => {
    const rows = Object.entries(ATTRIBUTES).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
    expect(tableUnder('| attribute | what it is |')).toEqual(rows)
  })

  it('has every metric, with its labels, in the words of the source', () => {
    const rows = Object.entries<Instrument>(INSTRUMENTS).map(([name, { kind, labels, help }]) => {
      const shown = labels.map((label) => `\`${label}\``).join(', ')
      return `| \`${prometheusName(name as keyof typeof INSTRUMENTS)}\` | ${kind} | ${shown} | ${help} |`
    })
    expect(tableUnder('| metric | kind | labels | what it says |')).toEqual(rows)
  })
})
