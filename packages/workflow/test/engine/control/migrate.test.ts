import { describe, expect, it } from 'vitest'
import type { SavedDefinition } from '../../../src/adapter/index.ts'
import { planMigration } from '../../../src/engine/control/migrate.ts'
import { FAILED, runToChange } from './run-to-change.ts'

/** Version 2 of the workflow, from its edges. */
function versionTwo(edges: Readonly<Record<string, readonly string[]>>, kind?: 'sleep'): SavedDefinition {
  const names = Object.keys(edges)
  const steps = names.map((name) => ({
    name,
    dependsOn: edges[name]!.map((dependency) => names.indexOf(dependency)),
    compensate: 'never' as const,
    ...(kind === undefined ? {} : { kind }),
  }))
  return { id: 2, name: 'w', version: 2, checksum: 'x', shape: { steps } }
}

describe('moving a run to another version', () => {
  it('counts the open dependencies of each step and the open sinks again', () => {
    const found = runToChange(
      { openSteps: 1 },
      { a: 'completed', b: { status: 'ready', dependsOn: [0] }, c: { openDependencies: 1, dependsOn: [1] } },
    )

    const plan = planMigration(
      found,
      versionTwo({ a: [], n: ['a'], b: ['n'], c: ['a', 'n', 'b'], d: ['a'] }),
    )!

    expect(plan.run).toMatchObject({ definitionId: 2, version: 2, openSteps: 2, status: 'running' })
    expect(plan.steps.map(({ name, status, openDependencies }) => [name, status, openDependencies])).toEqual([
      ['a', 'completed', 0],
      ['n', 'ready', 0],
      ['b', 'pending', 1],
      ['c', 'pending', 2],
      ['d', 'ready', 0],
    ])
    expect(plan.queue.map(({ name }) => name)).toEqual(['n', 'd'])
    expect(plan.migration).toEqual({ definitionId: 2, reportsEnd: false, oldNumbers: [0, null, 1, 2, null] })
  })

  it('never reuses a fence of the same step number', () => {
    const found = runToChange({}, { a: { status: 'completed', fence: 9 }, b: { status: 'ready', fence: 4 } })

    const plan = planMigration(found, versionTwo({ b: [], a: [] }))!

    expect(plan.steps).toMatchObject([
      { name: 'b', fence: 10 },
      { name: 'a', fence: 10 },
    ])
  })

  it('does not change an ended run, apart from new steps, which are cancelled', () => {
    const found = runToChange(FAILED, { a: 'completed', b: { status: 'failed', dependsOn: [0] } })

    const plan = planMigration(found, versionTwo({ a: [], b: ['a'], c: ['b'] }))!

    expect(plan.run).toEqual({ ...found.run, definitionId: 2, version: 2 })
    expect(plan.steps.map(({ status }) => status)).toEqual(['completed', 'failed', 'cancelled'])
    expect(plan.queue).toEqual([])
  })

  it.each([
    ['a running step', { a: 'running' }, { a: [] }, /step "a" is running/],
    [
      'a step that has begun and is gone',
      { a: 'completed', b: 'ready' },
      { a: [] },
      /step "b" is ready, and version 2 has no such step/,
    ],
    [
      'an end before what it depends on',
      { a: 'completed' },
      { n: [], a: ['n'] },
      /step "a" has ended, but depends in version 2 on "n"/,
    ],
    [
      'a wait before what it depends on',
      { a: { status: 'waiting', waitingSince: 1 } },
      { n: [], a: ['n'] },
      /step "a" is waiting, but depends in version 2 on "n"/,
    ],
    [
      'a signal that nobody would take',
      { a: { status: 'pending', openDependencies: 1, signalledAt: 1 } },
      { b: [] },
      /step "a" is pending/,
    ],
  ] as const)('is refused for %s', (_, steps, edges, problem) => {
    expect(() => planMigration(runToChange({}, steps), versionTwo(edges))).toThrow(problem)
  })

  it('is refused for a waiting step that is of another kind in the new version', () => {
    const found = runToChange({}, { a: { status: 'waiting', waitingSince: 1 } })

    expect(() => planMigration(found, versionTwo({ a: [] }, 'sleep'))).toThrow(/of another kind/)
  })

  it('drops steps that have not begun and are not in the new version', () => {
    const found = runToChange(
      {},
      { a: 'ready', b: { openDependencies: 1, dependsOn: [0] }, c: { openDependencies: 1, dependsOn: [1] } },
    )

    expect(planMigration(found, versionTwo({ a: [] }))?.steps).toHaveLength(1)
  })

  it('says how many more problems there are than it shows', () => {
    const steps = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`s${n}`, 'running' as const]))

    expect(() => planMigration(runToChange({}, steps), versionTwo({ a: [] }))).toThrow(/; and 20 more\.$/)
  })
})
