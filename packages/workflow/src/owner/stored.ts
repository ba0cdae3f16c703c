import { load, type Run, type RunRow } from '../machine/index.ts'
import type { OwnedRun } from '../store/index.ts'
import { knownOfRun, unpacked } from '../store/pack.ts'
import type { Code } from './code.ts'
import { endOf } from './written.ts'

/** What the run’s row says. */
export function knownOf({ fresh }: Pick<Code, 'fresh'>, stored: OwnedRun): RunRow {
  const { id, deadlineAt, priority, paused, parked, state, finishedAt, parent } = stored
  const implied = finishedAt === null ? { born: fresh.born, ends: 0, root: fresh.root } : endOf(fresh)
  const own = state === null ? implied : knownOfRun(state, fresh)
  const parentRun = parent == null || parent.detached === true || parent.unit === null ? null : parent.run
  return { id, parent: parentRun, deadlineAt, priority, paused, parked, ...own }
}

/** A run as its rows say, for whoever does not own it. */
export function readRun(code: Pick<Code, 'fresh' | 'spec'>, stored: OwnedRun): Run {
  return load(knownOf(code, stored), stored.steps!.map(unpacked), code.spec, { begun: stored.begun })
}
