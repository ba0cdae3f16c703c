import type { StepDefinition, Wait, WorkflowDefinition } from '@belay/workflow'
import {
  isItem,
  itemIndex,
  type JsonText,
  mapOf,
  type StepRecord,
  skipOf,
  templateOf,
} from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'
import { checkBranch } from './check-branch.ts'
import { hasParkedChild, isParked } from './check-family.ts'
import { compensateOf, isRound, itemsOf, keepsChild, rowsAfter, stepOf, undoneWith } from './descendants.ts'
import { STAND_IN } from './plan.ts'

/** What an oracle knows, by run and the step's name. */
export interface Known {
  /** The fence of each recorded outcome, by step and kind of outcome. */
  readonly recorded: Map<string, number>
  /** The payload of the signal that each step took. */
  readonly taken: Map<string, JsonText>
  /** Payloads of signals whose transactions may have committed. */
  readonly maybeTaken: Map<string, readonly JsonText[]>
}

export interface End {
  readonly found: RunDump
  /** The version that the run follows. */
  readonly definition: WorkflowDefinition
  /** All versions: the run's steps may have ended while it followed another one. */
  readonly versions: readonly WorkflowDefinition[]
  readonly known: Known
  /** Every run of the world. */
  readonly runs: readonly RunDump[]
  /** By how much the store's clock was set back, in milliseconds. */
  readonly backMs: number
}

type Report = (violation: string) => void

/** Checks whether a run ended as its steps imply. */
export function checkEndOf(end: End, broken: Report): void {
  const { run, steps, stored } = end.found
  for (const step of steps) checkLength(end, step, broken)
  for (const step of steps) checkRound(end, step, broken)
  switch (run.status) {
    case 'completed':
      for (const step of steps) checkCompleted(end, step, broken)
      return
    case 'failed':
    case 'compensated':
    case 'cancelled':
      for (const step of steps) {
        if (stored?.stop === 'abandonment' || isPastPivot(end)) checkLeft(end, step, broken)
        else checkUndone(end, step, broken)
      }
      return
    case 'compensation_failed':
      for (const step of steps) checkParked(end, step, broken)
      return
    default:
      // A child waits for an operator, and so does its parent.
      if (isParked(end.found, end.runs)) return
      broken(`run ${run.runId} is stuck in ${run.status}: ${steps.map(({ status }) => status).join(' ')}`)
  }
}

/** Nothing is undone once a pivot has completed, even if the run was being stopped at that moment. */
function isPastPivot({ found, definition }: End): boolean {
  return definition.steps.some(({ pivot, number }) => pivot && found.steps[number]!.status === 'completed')
}

function checkCompleted(end: End, step: StepRecord, broken: Report): void {
  const { runId } = end.found.run
  checkBranch({ versions: end.versions, steps: end.found.steps, step }, (violation) =>
    broken(`step ${step.name} of completed run ${runId} ${violation}`),
  )
  // A step that an operator skipped has a stand-in.
  if (step.status === 'skipped') return
  if (step.status === 'failed' && end.definition.steps[templateOf(step.step)]!.onFailure === 'continue') {
    checkLoopFailure(end, step, broken)
    return
  }
  const expected = expectedOutputs(end, step)
  // It is part of what its map collects.
  if (step.status === 'failed' && isItem(step.step) && collects(end, step.step)) return
  if (step.status !== 'completed') broken(`completed run ${runId} has step ${step.name} ${step.status}`)
  if (!expected.includes(step.output))
    broken(`output of ${runId}/${step.name} is ${step.output}, not ${expected.join(' or ')}`)
}

/** A loop fails with the error of its last round, or of the step that begins it. */
function checkLoopFailure(
  { found, definition }: End,
  { step, name, error, losses }: StepRecord,
  broken: Report,
) {
  // The step that ends the loop may be what loses its workers.
  if (definition.steps[templateOf(step)]!.map?.part !== 'join' || losses > 0) return
  const opener = found.steps[definition.graph.dependencies[step]![0]!]!
  const last = opener.status === 'failed' ? opener : itemsOf(found, opener.step).at(-1)
  if (last?.status !== 'failed' || last.error !== error)
    broken(
      `${found.run.runId}/${name} failed with ${error}, and ${last?.name} is ${last?.status} with ${last?.error}`,
    )
}

function collects({ definition }: End, row: number): boolean {
  return definition.record.shape.steps[templateOf(row)]!.onFailure === 'continue'
}

function expectedOutputs(end: End, step: StepRecord): readonly JsonText[] {
  const { found, definition, versions, known } = end
  const { wait, map, cases } = stepOf(definition, step.step)!
  if (cases !== null) return cases.map((one) => JSON.stringify(one))
  if (map?.part === 'join') return [joined(end, step)]
  if (map?.part === 'repeat' && !isItem(step.step)) return ['1']
  if (map?.part === 'map') return [String(itemsOf(found, step.step).length)]
  switch (wait?.kind) {
    case 'sleep':
      return [null]
    case 'signal':
    case 'approval': {
      const name = `${found.run.runId}/${step.name}`
      const taken = known.taken.has(name) ? [known.taken.get(name)!] : [JSON.stringify(STAND_IN)]
      return [...taken, ...(known.maybeTaken.get(name) ?? [])]
    }
    case 'child':
      return [step.output]
    case 'poll':
    case undefined:
      return versions.flatMap(({ graph, steps }) => {
        const number = graph.numberOf(
          isItem(step.step) ? definition.graph.names[mapOf(step.step)]! : step.name,
        )
        if (number === undefined) return []
        const sees = graph.dependencies[number]!.flatMap((dependency) =>
          seenAs(steps[dependency]!, found.steps),
        )
        return [JSON.stringify({ step: step.name, sees: sees.sort(), ...turnOf(definition, step) })]
      })
  }
}

/** What a round's output has besides: its number, and that of the round before as its handler saw it. */
function turnOf(definition: WorkflowDefinition, { step }: StepRecord): object {
  return isRound(definition, step) ? { after: itemIndex(step), round: itemIndex(step) + 1 } : {}
}

/** How a step sees a dependency: with its outcome, if the run continues past its failure. The choice of a follow-up is hidden. */
function seenAs({ name, onFailure, cases }: StepDefinition, rows: readonly StepRecord[]): readonly string[] {
  if (cases !== null && name === 'ended') return []
  const row = rows.find((other) => other.name === name)
  if (onFailure === 'stop' || row === undefined || skipOf(row.branch) !== undefined) return [name]
  return [`${name} ${row.status === 'failed' ? 'failed' : 'completed'}`]
}

/** The output of a map: those of its items, in their order, or how each of them ended. Of a loop, that of its last round. */
function joined(end: End, join: StepRecord): JsonText {
  const [opener] = end.definition.graph.dependencies[join.step]!
  const { map } = end.definition.steps[opener!]!
  if (map?.part === 'repeat') return itemsOf(end.found, opener!).at(-1)?.output ?? null
  const texts = itemsOf(end.found, opener!).map(({ status, output, error }) => {
    if (!collects(end, opener!)) return output ?? 'null'
    return status === 'failed'
      ? `{"status":"failed","error":${withoutStacks(error)}}`
      : `{"status":"completed","output":${output ?? 'null'}}`
  })
  return `[${texts.join(',')}]`
}

/** Settled values carry errors without their stacks. */
function withoutStacks(error: JsonText): JsonText {
  return JSON.stringify(JSON.parse(error!, (key, value: unknown) => (key === 'stack' ? undefined : value)))
}

/** Each round but the first comes after one that completed, or has completed before it was undone. */
function checkRound({ found, definition }: End, row: StepRecord, broken: Report): void {
  const { step, name, startedAt } = row
  // Rounds that have not begun may be left of an earlier time.
  if (!isRound(definition, step) || itemIndex(step) === 0 || startedAt === null) return
  const before = found.steps.find((other) => other.step === step - 1)
  const status = before?.undoOf ?? before?.status
  if (status !== 'completed')
    broken(`${found.run.runId}/${name} is there, but the round before it is ${before?.status}`)
}

/** Only its signal may end a wait before its time. */
function checkLength({ found, definition, known, backMs }: End, step: StepRecord, broken: Report): void {
  const { wait } = definition.steps[templateOf(step.step)]!
  const name = `${found.run.runId}/${step.name}`
  if (wait === null || step.status !== 'completed' || known.taken.has(name) || known.maybeTaken.has(name))
    return
  const leastMs = leastLengthMs(wait)
  const lastedMs = leastMs === 0 ? 0 : step.finishedAt! - step.waitingSince!
  if (!(lastedMs + backMs >= leastMs)) broken(`${name} waited ${lastedMs} ms, not ${leastMs}`)
}

/** The shortest time that a step waits without a signal; a number beyond every wait if only its signal ends it. */
function leastLengthMs(wait: Wait): number {
  switch (wait.kind) {
    case 'sleep':
      return wait.ms!
    case 'signal':
    case 'approval':
      return wait.timeoutMs ?? Number.NaN
    case 'poll':
    case 'child':
      return 0
  }
}

/** Whether the step's child has completed, and keeps its effects: then its undo changes nothing. */
function hasKeptChild({ found, definition, runs }: End, { step }: StepRecord): boolean {
  if (!keepsChild(definition, step)) return false
  const isOwn = ({ run }: RunDump) => run.parent?.runId === found.run.runId && run.parent.step === step
  return runs.some((other) => isOwn(other) && other.run.status === 'completed')
}

function checkUndone(end: End, step: StepRecord, broken: Report): void {
  const { found, definition, known } = end
  const compensate = compensateOf(definition, step)
  const name = `${found.run.runId}/${step.name}`
  const where = `stopped run ${found.run.runId}, step ${step.name} (${compensate})`
  const compensated = known.recorded.has(`${name}/compensated`)
  // It was undone before its run moved to a version in which the step has no compensation.
  if (step.status === 'compensated' && compensate === 'never' && isUndoneByAnother(end, step)) return
  if (step.status !== 'compensated' && hasKeptChild(end, step)) return
  const owed =
    compensate !== 'never' &&
    undoneWith(definition, found, step).some((row) => mayHaveEffect(end, row, compensate))
  if (owed !== (step.status === 'compensated')) broken(`${where}: ${step.status}, but owed an undo: ${owed}`)
  if (owed !== compensated) broken(`${where}: undo recorded: ${compensated}, owed: ${owed}`)
  checkOver(where, step, broken)
}

/** Whether what the row did must be undone, if it has a compensation that is called when the step has `completed`, or was `started`. */
function mayHaveEffect(
  { found, definition, known }: End,
  step: StepRecord,
  compensate: 'completed' | 'started',
): boolean {
  if (known.recorded.has(`${found.run.runId}/${step.name}/completed`)) return true
  const isUndecided =
    !isItem(step.step) &&
    definition.record.shape.steps[step.step]!.when === 'function' &&
    step.branch === null
  const begun = !isUndecided && (found.stored?.begun?.[found.steps.indexOf(step)] ?? step.startedAt !== null)
  return compensate === 'started' && begun && step.status !== 'skipped'
}

function isUndoneByAnother({ versions }: End, { name }: StepRecord): boolean {
  return versions.some(({ graph, record }) => {
    const number = graph.numberOf(name)
    return number !== undefined && record.shape.steps[number]!.compensate !== 'never'
  })
}

/** Cancelled without an undo, or stopped after its pivot: every effect stays. */
function checkLeft({ found }: End, step: StepRecord, broken: Report): void {
  const where = `run ${found.run.runId}, which is not undone, step ${step.name}`
  if (step.undoOf !== null) broken(`${where} is ${step.status}`)
  checkOver(where, step, broken)
}

function checkOver(where: string, { status }: StepRecord, broken: Report): void {
  if (['pending', 'ready', 'running', 'waiting', 'compensating'].includes(status)) {
    broken(`${where} is still ${status}`)
  }
}

function checkParked({ found, definition, runs }: End, step: StepRecord, broken: Report): void {
  if (step.status !== 'compensating' || hasParkedChild(found.run.runId, step, runs)) return
  const blocked = rowsAfter(found, definition, step).some(({ status }) => status === 'compensation_failed')
  if (!blocked)
    broken(`parked run ${found.run.runId}: step ${step.name} is not undone, and nothing is in its way`)
}
