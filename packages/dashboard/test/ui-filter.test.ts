import { describe, expect, it } from 'vitest'
import { parse, searchOf, termsOf, textOf, united, without } from '../ui/src/runs/filter.ts'
import { PAGE, settle } from '../ui/src/runs/settle.ts'
import { needed } from '../ui/src/screens.ts'
import { ANSWERS, newerRun, RUNS } from './setup/answers.ts'

describe('a filter as text', () => {
  it('a value may hold colons and, in quotes, spaces', () => {
    const { terms } = parse('workflow:fulfil-order key:order:91 tag:"team a"')
    expect(terms).toEqual([
      { field: 'workflow', value: 'fulfil-order' },
      { field: 'key', value: 'order:91' },
      { field: 'tag', value: 'team a' },
    ])
    expect(parse(textOf(terms)).terms).toEqual(terms)
    expect(termsOf(searchOf(terms))).toEqual(terms)
  })

  it('an id alone leads to its run, and any other bare word is a key', () => {
    expect(parse('01a20e57').id).toBe('01a20e57')
    expect(parse('order:91').terms).toEqual([{ field: 'key', value: 'order:91' }])
    expect(parse('  ').terms).toEqual([])
  })

  it('a field with one value keeps the newer one; others collect theirs', () => {
    const old = termsOf('since=7d&status=failed')
    expect(textOf(united(old, parse('since:1h status:parked status:failed').terms))).toBe(
      'since:1h status:parked status:failed',
    )
    expect(textOf(without(old, { field: 'status', value: 'failed' }))).toBe('since:7d')
  })

  it('what is no field of a filter stays out of it', () => {
    expect(termsOf('before=01a2&status=&nonsense=1')).toEqual([])
  })
})

describe('what needs a person', () => {
  it('counts runs that are parked going forward, as the view of Runs with that name does', () => {
    const { overview } = ANSWERS
    expect(needed(overview)).toEqual({ count: 47 + 6 + 3 + 3, capped: false })
    expect(needed({ ...overview, liveRuns: {} })).toEqual({ count: 47 + 3 + 3, capped: false })
  })
})

describe('a page that is read again', () => {
  it('shown rows change in place, and newer ones wait', () => {
    const changed = { ...RUNS[1]!, status: 'completed' as const }
    const picture = settle(RUNS, {
      readAt: 0,
      runs: [newerRun(2), newerRun(1), RUNS[0]!, changed, ...RUNS.slice(2)],
      more: false,
    })
    expect(picture.runs).toEqual([RUNS[0], changed, ...RUNS.slice(2)])
    expect(picture.waiting).toBe(2)
    expect(picture.gone.size).toBe(0)
  })

  it('a run that no longer matches keeps its place, and is marked', () => {
    const picture = settle(RUNS, { readAt: 0, runs: RUNS.filter((_, index) => index !== 3), more: false })
    expect(picture.runs).toEqual(RUNS)
    expect([...picture.gone]).toEqual([RUNS[3]!.id])
  })

  it('a run pushed out at the end of the answer is not taken for one that no longer matches', () => {
    const many = Array.from({ length: PAGE }, (_, index) => newerRun(PAGE - index))
    const picture = settle(many, { readAt: 0, runs: [newerRun(PAGE + 1), ...many.slice(0, -1)], more: true })
    expect(picture.gone.size).toBe(0)
    expect(picture.waiting).toBe(1)
  })
})
