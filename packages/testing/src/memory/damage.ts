import type { Rows } from './rows.ts'

/** The largest fence of an SQL store. */
const FENCE_MAX = 2_147_483_647

/** Damages a run's rows, as a bad restore might. For simulations. */
export function damage(rows: Rows, runId: string, kind: 'missing row' | 'fence' | 'deadline'): void {
  const run = rows.runs.get(runId)
  if (run === undefined) return
  rows.changes += 1
  switch (kind) {
    case 'missing row':
      run.steps = run.steps.slice(0, -1)
      break
    case 'fence':
      for (const step of run.steps) step.fence = FENCE_MAX
      break
    case 'deadline':
      run.deadlineAt = Number.NEGATIVE_INFINITY
  }
}
