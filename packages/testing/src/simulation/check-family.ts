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

  changed(before: RunDump | undefined, after: RunDump | undefined): void {
    if (before === undefined || after?.run.status !== 'running') return
    if (isTerminal(before.run.status)) this.#retried.add(after.run.runId)
  }

  /** An outcome was recorded. A repeated settlement is answered like the first, and is not told again. */
  async recorded(parts: FamilyParts, outcome: Outcome, found: RunDump | undefined): Promise<void> {
    if (found === undefined) return
    const { runs } = await parts.shared.dump()
    const definition = parts.definitions.of(found.run)
    const isRetried = (runId: string) => this.#retried.has(runId)
    checkFamily({ outcome, definition, runs, isRetried }, (violation) => parts.violations.add(violation))
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
    const isOver =
      isBuried(child) || (isTerminal(child.status) && (wait.keepsEffects || child.status !== 'completed'))
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
