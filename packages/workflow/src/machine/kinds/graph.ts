import type { SkipReason } from '../../adapter/branch.ts'
import { complete, note, outcomeOf, skip } from '../outcomes.ts'
import { at, begin, unitAt } from '../scope.ts'
import type { Kind, Run, Spec, Unit } from '../state.ts'

/** A step of a graph. */
export interface StepSpec extends Spec {
  /** Its place among the steps. */
  readonly index: number
  /** Names of the steps that it comes after: those that it depends on, and those whose case or outcome it needs. */
  readonly after: readonly string[]
  /** Names of the steps that come after it. */
  readonly next: readonly string[]
  /** The outcomes or cases with which it runs, by the step that has them. */
  readonly cases?: Readonly<Record<string, readonly string[]>>
  readonly onSkipped?: 'run'
  readonly onFailure?: 'continue'
  /** Its output is one of the cases of a choice. */
  readonly chooses?: true
}

export interface GraphSpec extends Spec {
  readonly steps: readonly StepSpec[]
  readonly byName: ReadonlyMap<string, StepSpec>
}

const graphOf = (s: Unit) => s.spec as GraphSpec
const stepOf = (u: Unit) => u.spec as StepSpec

/** How many dependencies each step still waits for, by its place. */
const openOf = (s: Unit) => s.mem as number[]

/** Steps that depend on each other. */
export const graph: Kind = {
  name: 'graph',
  named: true,
  specOf: (spec, key) => (spec as GraphSpec).byName.get(key as string),
  grow(run, s) {
    for (const { name } of graphOf(s).steps) unitAt(run, s, name)
  },
  open(run, s) {
    s.mem = graphOf(s).steps.map(({ after }) => after.length)
    for (const u of s.units!) if (stepOf(u).after.length === 0) arrive(run, s, u)
  },
  ended(run, s, u) {
    const open = openOf(s)
    for (const name of stepOf(u).next) {
      const v = at(s, name)!
      const { index } = stepOf(v)
      open[index]! -= 1
      if (open[index] === 0) arrive(run, s, v)
    }
  },
  idle: complete,
  before: (s, u) => stepOf(u).after.map((name) => at(s, name)!),
  bears: (_, u) => stepOf(u).onFailure === 'continue',
  keeps(_run, _s, u, { output }) {
    if (stepOf(u).chooses === true) note(u, { case: output })
  },
}

/** All that a step comes after has ended: it begins, or is skipped. */
function arrive(run: Run, s: Unit, u: Unit): void {
  const why = u.status === 'pending' && s.status === 'open' && !run.paused ? unwanted(s, u) : null
  if (why === null) return begin(run, u)
  s.alive += 1
  skip(run, u, why)
}

/** Why a step is skipped whose dependencies have ended; null if it is wanted. */
function unwanted(s: Unit, u: Unit): SkipReason | null {
  const { cases, after, onSkipped } = stepOf(u)
  for (const name of after) {
    if (!isSkipped(at(s, name)!)) continue
    if (onSkipped !== 'run' || (cases !== undefined && name in cases))
      return { because: 'dependency', dependency: name }
  }
  if (cases === undefined) return null
  for (const [name, wanted] of Object.entries(cases)) {
    const d = at(s, name)!
    const found = caseOf(d)
    if (wanted.includes(found)) continue
    if (stepOf(d).chooses === true) return { because: 'case', choice: name, case: found }
    return { because: 'outcome', dependency: name, outcome: found === 'failed' ? 'failed' : 'completed' }
  }
  return null
}

const isSkipped = (d: Unit): boolean => d.status === 'skipped' && d.note?.standIn !== true

function caseOf(d: Unit): string {
  const outcome = outcomeOf(d)
  if (outcome === 'failed') return 'failed'
  return stepOf(d).chooses === true ? String(d.note?.['case']) : 'completed'
}
