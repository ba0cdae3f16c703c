import { define, unchecked } from '@belay/workflow'
import type { Outcome } from '@belay/workflow/adapter'
import { describe, expect, it } from 'vitest'
import type { RunDump } from '../../src/invariants/index.ts'
import { checkStarts, Families } from '../../src/simulation/check-family.ts'
import { engines } from '../engine/bench-of-engines.ts'

const child = define('child', { version: 1, input: unchecked<unknown>() }).step('work', { run: () => 1 })

/** The run of a parent and its child, as the oracle sees them, and what the child recorded last. */
async function family({ detached = false }: { readonly detached?: boolean } = {}) {
  const parent = define('parent', { version: 1 }).workflow('pay', child, { detached })
  const { clock, worker, adapter } = engines()
  const engine = await worker({ workflows: [parent] })
  const run = await engine.run(parent)
  await clock.runUntil(run.result())
  await clock.advance('2s')
  const [found] = await engine.runs.list({ parentId: run.id })
  const dumpOf = async (id: string): Promise<RunDump> => ({ ...(await adapter.readRun(id))!, values: [] })
  const [owner, first] = [await dumpOf(run.id), await dumpOf(found!.id)]
  const second: RunDump = { ...first, run: { ...first.run, runId: 'another' } }
  const { definitionId } = second.run
  const outcome: Outcome = {
    ...{ runId: 'another', step: 0, fence: 1, direction: 'forward', definitionId },
    ...{ type: 'completed', output: '1' },
  }
  const definitions = { of: ({ workflow }: { workflow: string }) => (workflow === 'parent' ? parent : child) }
  const check = async (families: Families, ...runs: readonly RunDump[]) => {
    const violations: string[] = []
    const parts = {
      shared: { dump: async () => ({ runs }) },
      definitions,
      violations: { add: (violation: string) => void violations.push(violation) },
    }
    await families.recorded(parts as never, outcome, second)
    return violations
  }
  return { owner, first, second, check }
}

describe('the oracle of families', () => {
  it('reports an effect that two children of one step have', async () => {
    const { owner, first, second, check } = await family()

    expect(await check(new Families(), owner, first, second)).toEqual([
      expect.stringMatching(/^step work was done by run another and by run .*, two children of step pay/),
    ])
  })

  it('reports none whose earlier child was undone or stopped', async () => {
    const { owner, first, second, check } = await family()
    const undone = {
      ...first,
      steps: first.steps.map((step) => ({ ...step, status: 'compensated' as const })),
    }
    const stopped = { ...first, stored: { openSteps: 0, endsAs: null, stop: 'abandonment' as const } }

    expect(await check(new Families(), owner, undone, second)).toEqual([])
    expect(await check(new Families(), owner, stopped, second)).toEqual([])
  })

  it('reports none of a step whose child an operator has let go, nor of a detached one', async () => {
    const { owner, first, second, check } = await family()
    const families = new Families()
    const skipped = { ...owner, steps: owner.steps.map((step) => ({ ...step, status: 'skipped' as const })) }
    families.changed(owner, skipped)
    const aside = await family({ detached: true })

    expect(await check(families, owner, first, second)).toEqual([])
    expect(await aside.check(new Families(), aside.owner, aside.first, aside.second)).toEqual([])
  })

  it('reports a child that was started once its parent had ended', async () => {
    const { owner, first } = await family()
    const late = { ...first, run: { ...first.run, createdAt: owner.run.finishedAt! + 5 } }
    const violations: string[] = []

    checkStarts([owner, first], 0, (violation) => violations.push(violation))
    expect(violations).toEqual([])

    checkStarts([owner, late], 0, (violation) => violations.push(violation))
    expect(violations).toEqual([expect.stringContaining('which had ended')])
  })
})
