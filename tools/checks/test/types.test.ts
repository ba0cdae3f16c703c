import { expect, it } from 'vitest'
import { checkTypes } from '../../../scripts/types.mjs'

it('sources, tests, examples and scripts have no type errors', async () => {
  const lines: string[] = []

  const code = await checkTypes({ onLine: (line) => lines.push(line) })

  expect(lines.join('\n')).toBe('')
  expect(code).toBe(0)
})
