import { describe, expect, it } from 'vitest'
import { RunFailedError, type RunSnapshot } from '../src/index.ts'
import { counted, sentence } from '../src/words.ts'

describe('words', () => {
  it('use the singular for one, and the plural for every other count', () => {
    expect([0, 1, 2].map((count) => counted(count, 'step'))).toEqual(['0 steps', '1 step', '2 steps'])
  })

  it('of other authors end with one full stop', () => {
    expect(['card declined', 'card declined.', 'really?', 'wait… '].map(sentence)).toEqual([
      'card declined.',
      'card declined.',
      'really?',
      'wait…',
    ])
  })

  it('of an error do not run into the next sentence', () => {
    const cause = {
      type: 'step_failed',
      step: 'pay',
      attempt: 1,
      error: { name: 'Error', message: 'card declined' },
    }
    const run = { id: 'r', workflow: 'order', version: 1, status: 'failed', cause, steps: [] }
    expect(new RunFailedError(run as unknown as RunSnapshot).message).toBe(
      'Run r of "order" (version 1) failed: step "pay" gave up after 1 attempt with Error: card declined. Nothing had to be undone.',
    )
  })
})
