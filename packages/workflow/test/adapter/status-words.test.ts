import { describe, expect, it } from 'vitest'
import { RUN_STATUSES } from '../../src/adapter/index.ts'
import { STATUS_WORDS, statusesIn, statusesOf } from '../../src/index.ts'

describe('the words with which people ask for runs', () => {
  it('failed covers what failed, was undone after a failure, or is parked; failed-only is exact', () => {
    expect(statusesOf('failed')).toEqual(['failed', 'compensated', 'compensation_failed', 'parked'])
    expect(statusesOf('failed-only')).toEqual(['failed'])
  })

  it('every other status means itself', () => {
    for (const status of RUN_STATUSES) if (status !== 'failed') expect(statusesOf(status)).toEqual([status])
    expect(STATUS_WORDS).toEqual(expect.arrayContaining([...RUN_STATUSES]))
  })

  it.each([
    ['undone', 'compensated'],
    ['Undone', 'compensated'],
    ['undoing', 'compensating'],
    ['Undo parked', 'compensation_failed'],
    ['undo-parked', 'compensation_failed'],
    ['Parked', 'parked'],
    ['compensation failed', 'compensation_failed'],
  ])('%s is the word of a screen for %s', (word, status) => {
    expect(statusesOf(word)).toEqual([status])
  })

  it('several words ask for any of their statuses, each once', () => {
    expect(statusesIn(['undone', 'failed-only', 'compensated'])).toEqual(['compensated', 'failed'])
  })

  it('a wrong word is refused with the nearest right one, or with all', () => {
    expect(() => statusesIn(['undonne'])).toThrow('No run has a status "undonne". Did you mean "undone"?')
    expect(() => statusesIn(['xyzzy'])).toThrow(
      'No run has a status "xyzzy". Give one of scheduled, running,',
    )
  })

  it('another word is none', () => {
    expect(statusesOf('complete')).toBeUndefined()
    expect(statusesOf('toString')).toBeUndefined()
    expect(statusesOf('')).toBeUndefined()
  })
})
