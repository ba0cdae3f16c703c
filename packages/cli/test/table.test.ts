import { STATUS_WORDS } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { STATUSES } from '../src/table/flags.ts'
import { VERBS } from '../src/table/index.ts'
import { loadVerb } from '../src/verbs/index.ts'
import { belay } from './setup/belay.ts'

describe('the table of verbs', () => {
  it('knows every word for a status', () => {
    expect([...STATUSES].sort()).toEqual([...STATUS_WORDS].sort())
  })

  it.each(VERBS.map(({ name }) => [name || 'belay', name]))('%s has its code', async (_, name) => {
    expect(await loadVerb(name)).toMatchObject({ run: expect.any(Function) })
  })

  it.each(VERBS.map((verb) => [verb.name || 'belay', verb] as const))(
    '%s has a help of at most 80 columns, whose examples can be typed',
    async (_, verb) => {
      const { stdout, status } = await belay([...verb.name.split(' ').filter(Boolean), '--help'], {
        columns: 80,
      })

      expect(status).toBe(0)
      const lines = stdout.split('\n')
      expect(lines.filter((line) => line.length > 80)).toEqual([])
      expect(verb.examples.length).toBeGreaterThan(0)
      for (const { command } of verb.examples)
        expect(command === '' || command.startsWith(verb.name)).toBe(true)
      expect(verb.about.trim()).toMatch(/^[A-Z].*\.$/s)
      expect(verb.summary).not.toMatch(/\.$/)
    },
  )
})
