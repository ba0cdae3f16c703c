import { expect, it } from 'vitest'
import { failedText, settledText } from '../../src/engine/base/settled-text.ts'

it('a settled value has the error without stacks, at every depth, whatever was stored', () => {
  const cause = { name: 'Error', message: 'a "stack" of paper', stack: 'at inner' }
  const stored = JSON.stringify({ name: 'TypeError', message: 'outer', code: 'E1', stack: 'at outer', cause })

  expect(JSON.parse(failedText(stored))).toEqual({
    status: 'failed',
    error: {
      name: 'TypeError',
      message: 'outer',
      code: 'E1',
      cause: { name: 'Error', message: 'a "stack" of paper' },
    },
  })
  expect(settledText({ failed: true, branch: null, output: null, error: stored })).toBe(failedText(stored))
})

it('an error that has no stack is taken as it was stored', () => {
  const stored = '{"name":"Error","message":"no"}'

  expect(failedText(stored)).toBe(`{"status":"failed","error":${stored}}`)
})
