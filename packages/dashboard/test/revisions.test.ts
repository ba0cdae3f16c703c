import { describe, expect, test } from 'vitest'
import type { RunPage } from '../src/api.ts'
import { Revisions } from '../src/view/revisions.ts'
import { merged } from '../ui/src/run/merged.ts'

type Steps = RunPage['run']['steps']

const [first, second, third] = [stepNamed('a'), stepNamed('b'), stepNamed('c')]
const moved = { ...second, attempts: 2 }

function stepNamed(name: string): Steps[0] {
  const counts = { round: 1, attempts: 1, failures: 0, losses: 0, known: [], kept: false } as const
  const kind = { kind: 'work', compensate: 'never', pivot: false, irreversible: false } as const
  return { name, dependsOn: [], status: 'running', ...kind, ...counts }
}

function pageOf(steps: Steps): RunPage {
  const id = '019ac000-0000-7000-8000-000000000001'
  const run = {
    id,
    workflow: 'order',
    version: 1,
    status: 'running',
    createdAt: 1,
    readAt: 2,
    rounds: 1,
    steps,
  } as const
  const effects = { undone: 0, remain: 0, kept: 0, unknown: 0 }
  const lists = { tags: [], open: [], actions: [], history: [], children: [] }
  return { revision: 'p.1', run, why: 'It runs.', priority: 0, effects, ...lists }
}

describe('what changed since a reading', () => {
  test('only steps that differ are sent, to each viewer since what it saw', () => {
    const revisions = new Revisions()
    const one = revisions.next('run', [first, second, third])
    const two = revisions.next('run', [first, moved, third])
    const three = revisions.next('run', [first, moved, third])
    expect(revisions.changed([first, moved, third], two, revisions.nameOf(one))).toEqual([moved])
    expect(revisions.changed([first, moved, third], three, revisions.nameOf(one))).toEqual([moved])
    expect(revisions.changed([first, moved, third], three, revisions.nameOf(two))).toEqual([])
    expect(revisions.changed([first, second, third], one, revisions.nameOf(one))).toEqual([])
  })

  test('the run is sent whole if what was seen cannot be compared', () => {
    const revisions = new Revisions()
    const one = revisions.next('run', [first, second])
    const migrated = revisions.next('run', [first, third])
    expect(revisions.changed([first, third], migrated, revisions.nameOf(one))).toBeUndefined()
    const elsewhere = new Revisions()
    const other = elsewhere.nameOf(elsewhere.next('run', [first, third]))
    expect(revisions.changed([first, third], migrated, other)).toBeUndefined()
    for (const seen of [
      '',
      'x',
      `${revisions.nameOf(migrated)}9`,
      revisions.nameOf(migrated).replace(/\d+$/, 'x'),
    ]) {
      expect(revisions.changed([first, third], migrated, seen)).toBeUndefined()
    }
  })

  test('a run that was forgotten in between is sent whole: others are large, or it was not looked at for ten minutes', () => {
    const time = { now: 0 }
    const large = { ...second, name: 'x'.repeat(1024 * 1024) }
    for (const pass of [
      (revisions: Revisions) => {
        for (let n = 0; n < 40; n += 1) revisions.next(`run ${n}`, [large])
      },
      (revisions: Revisions) => {
        time.now += 10 * 60_000 + 1
        revisions.next('other', [second])
      },
    ]) {
      const revisions = new Revisions(() => time.now)
      const one = revisions.next('run', [first])
      pass(revisions)
      const again = revisions.next('run', [first])
      expect(revisions.changed([first], again, revisions.nameOf(one))).toBeUndefined()
    }
  })

  test('a run that alone is larger than what is kept is compared with itself', () => {
    const revisions = new Revisions()
    const large = { ...second, name: 'x'.repeat(33 * 1024 * 1024) }
    const one = revisions.next('run', [large])
    const two = revisions.next('run', [large])
    expect(revisions.changed([large], two, revisions.nameOf(one))).toEqual([])
  })

  test('the page puts changed steps where they stood, and leaves the others the same objects', () => {
    const seen = pageOf([first, second, third])
    const answer = { ...seen, why: 'newer', since: seen.revision, revision: 'p.2' }
    const page = merged(seen, { ...answer, run: { ...seen.run, steps: [moved] } })
    expect(page.run.steps.map(({ name }) => name)).toEqual(seen.run.steps.map(({ name }) => name))
    expect(page.run.steps[1]).toBe(moved)
    expect(page.run.steps[0]).toBe(seen.run.steps[0])
    expect(page).toMatchObject({ why: 'newer', revision: 'p.2', since: undefined })
    expect(merged(seen, { ...answer, run: { ...seen.run, steps: [] } }).run.steps).toBe(seen.run.steps)
  })
})
