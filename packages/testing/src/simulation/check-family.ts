import type { WorkflowDefinition } from '@belay/workflow'
import { isTerminal, type Outcome, type RunRecord, type StepRecord } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'
import type { Definitions } from './definitions.ts'
import { stepOf } from './descendants.ts'

interface FamilyCall {
  readonly outcome: Outcome
  /** The parent's definition. */
  readonly definition: WorkflowDefinition
  readonly runs: readonly RunDump[]
  readonly isRetried: (runId: string) => boolean
}

interface FamilyParts {
  readonly shared: { dump(): Promise<{ readonly runs: readonly RunDump[] }> }
  readonly definitions: Definitions
  readonly violations: { add(violation: string): void }
}

/** What an oracle knows of parents and children. */
export class Families {
  /** Runs that an operator sent forward again, so that they go their own way. */
  readonly #retried = new Set<string>()
  /** Steps, by run and name, of which an operator said that nobody has to answer for their children any more. */
  readonly #letGo = new Set<string>()

  changed(before: RunDump | undefined, after: RunDump | undefined): void {
    // What was read before may be another run, whose change was under way at the same time.
    if (before === undefined || before.run.runId !== after?.run.runId) return
    const { runId, status } = after.run
    for (const { name, status: now } of after.steps) {
      const old = before.steps.find((step) => step.name === name)?.status
      const isUndoSkipped = now === 'compensated' && old !== 'compensated'
      if (isUndoSkipped || (now === 'skipped' && old !== 'skipped')) this.#letGo.add(`${runId}/${name}`)
    }
    if (status === 'running' && isTerminal(before.run.status)) this.#retried.add(runId)
  }

  /** An outcome was recorded. A repeated settlement is answered like the first, and is not told again. */
  async recorded(parts: FamilyParts, outcome: Outcome, found: RunDump | undefined): Promise<void> {
    if (found === undefined) return
    const { runs } = await parts.shared.dump()
    const definition = parts.definitions.of(found.run)
    const isRetried = (runId: string) => this.#retried.has(runId)
    const broken = (violation: string) => parts.violations.add(violation)
    checkFamily({ outcome, definition, runs, isRetried }, broken)
    if (outcome.type !== 'compensated') this.#checkOnce(parts, outcome, { found, runs }, broken)
  }

  /**
   * An effect happens once for each step of a parent, whichever of its children has it: an earlier child must have been undone before the next one
   * does the same again. Nobody answers for the children of a step that an operator has let go, nor for those of detached steps.
   */
  #checkOnce(
    { definitions }: FamilyParts,
    { step }: Outcome,
    { found, runs }: { readonly found: RunDump; readonly runs: readonly RunDump[] },
    broken: (violation: string) => void,
  ): void {
    const { runId, parent, workflow } = found.run
    if (parent === null || parent.step === null) return
    const owner = runs.find(({ run }) => run.runId === parent.runId)
    const row = owner?.steps.find((each) => each.step === parent.step)
    if (owner === undefined || row === undefined || this.#letGo.has(`${parent.runId}/${row.name}`)) return
    const { wait } = stepOf(definitions.of(owner.run), row.step) ?? {}
    if (wait?.kind !== 'child' || wait.detached) return
    const { name } = found.steps.find((each) => each.step === step)!
    const twin = runs.find(
      ({ run, steps, stored }) =>
        run.runId !== runId &&
        run.workflow === workflow &&
        run.parent?.runId === parent.runId &&
        run.parent.step === parent.step &&
        stored?.stop == null &&
        steps.some((each) => each.name === name && each.status === 'completed'),
    )
    if (twin !== undefined)
      broken(
        `step ${name} was done by run ${runId} and by run ${twin.run.runId}, two children of step ${row.name} of run ${parent.runId}, and nothing was undone between`,
      )
  }
}

/** Checks that no child was started once its parent had ended: nobody would undo it. `backMs`: how far the store's clock was set back. */
export function checkStarts(
  runs: readonly RunDump[],
  backMs: number,
  broken: (violation: string) => void,
): void {
  const parents = new Map(runs.map(({ run }) => [run.runId, run]))
  for (const { run } of runs) {
    if (run.parent === null || run.parent.step === null || isBuried(run)) continue
    const { finishedAt = null } = parents.get(run.parent.runId) ?? {}
    if (finishedAt !== null && run.createdAt > finishedAt + backMs)
      broken(`run ${run.runId} was started as a child of run ${run.parent.runId}, which had ended`)
  }
}

/** Checks what a step may record about its child: that it completed, or that nothing of it is left to undo. */
function checkFamily(
  { outcome, definition, runs, isRetried }: FamilyCall,
  broken: (violation: string) => void,
): void {
  const { wait } = stepOf(definition, outcome.step) ?? {}
  if (wait?.kind !== 'child' || wait.detached) return
  const child = newestChild(runs, outcome)
  const where = `step ${outcome.step} of run ${outcome.runId}`
  if (outcome.type === 'completed' || outcome.type === 'repeated') {
    if (child?.status !== 'completed') broken(`${where} completed with a child that is ${child?.status}`)
  } else if (outcome.type === 'compensated' && child !== undefined && !isRetried(child.runId)) {
    // A child that completed and keeps its effects was not undone: its step is told to stay as it was.
    const isOver = isBuried(child) || (isTerminal(child.status) && child.status !== 'completed')
    if (!isOver) broken(`${where} was undone, and its child ${child.runId} is ${child.status}`)
  }
}

/** A buried child never begins: whether its end has come does not matter. */
function isBuried({ startAt, createdAt }: RunRecord): boolean {
  return startAt !== null && startAt - createdAt > 9 * YEAR_MS
}

const YEAR_MS = 365 * 86_400_000

/** Ids are drawn at random in a world: they say nothing about the order. */
function newestChild(runs: readonly RunDump[], { runId, step }: Outcome): RunRecord | undefined {
  const children = runs
    .map(({ run }) => run)
    .filter(({ parent }) => parent?.runId === runId && parent.step === step)
  return children.sort((one, other) => other.createdAt - one.createdAt)[0]
}

/** Whether only an operator can bring this run on: its undo is parked, or that of a child for which it waits. */
export function isParked(found: RunDump, runs: readonly RunDump[]): boolean {
  const { run, steps } = found
  if (isTerminal(run.status)) return false
  const open = steps.filter(isOpen)
  const waits = open.some((step) => hasParkedChild(run.runId, step, runs))
  const isBlocked = open.every((step) => isHeldBack(step) || hasParkedChild(run.runId, step, runs))
  return isBlocked && (waits || run.status === 'compensation_failed')
}

/** Whether the step waits for a child, or for its undo, that is parked. */
export function hasParkedChild(runId: string, { step }: StepRecord, runs: readonly RunDump[]): boolean {
  return runs.some(
    (child) => child.run.parent?.runId === runId && child.run.parent.step === step && isParked(child, runs),
  )
}

function isOpen({ status }: StepRecord): boolean {
  return ['pending', 'ready', 'running', 'waiting', 'compensating'].includes(status)
}

/** It waits for other steps. */
function isHeldBack({ status, openDependencies }: StepRecord): boolean {
  return (status === 'pending' || status === 'compensating') && openDependencies > 0
}
