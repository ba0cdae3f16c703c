import type { SkipReason } from '../../adapter/branch.ts'
import {
  type DefinitionShape,
  isItem,
  itemNumber,
  type JsonText,
  RUNS,
  type RunStatus,
  type StepRecord,
  type StepStatus,
  type StoredRunStatus,
  skipText,
  templateOf,
  type UndoneStatus,
  type UndoRecord,
} from '../../adapter/index.ts'
import { hasEnded, isGoingBack, isUndone, outcomeOf } from '../../machine/outcomes.ts'
import { at, owes } from '../../machine/scope.ts'
import { nameOf, shownStatus } from '../../machine/shown.ts'
import type { Run, Unit } from '../../machine/state.ts'

// A run of the machine by the words of people: a map or a loop is two steps there, of which the first decides its items.

/** What the store keeps of a unit besides what the machine reads. Instants are epoch milliseconds. */
export interface Kept {
  readonly output: JsonText
  readonly error: JsonText
  readonly undoError: JsonText
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly undoStartedAt: number | null
  readonly undoFinishedAt: number | null
}

export interface Recording {
  readonly run: Run
  readonly shape: DefinitionShape
  readonly keptOf: (no: number) => Kept
  /** Whoever owns the run. */
  readonly workerId: string | null
}

/** All steps of a run in the order of its definition, then its items. */
export function recordsOf(recording: Recording): readonly StepRecord[] {
  const { run, shape } = recording
  const steps: StepRecord[] = []
  const items: StepRecord[] = []
  for (const [number, { name, kind, dependsOn }] of shape.steps.entries()) {
    if (kind === 'map' || kind === 'repeat') continue
    const unit = at(run.root, name)!
    if (kind !== 'join') steps[number] = stepRecord(recording, unit, number)
    else {
      const opener = dependsOn[0]!
      steps[opener] = openerRecord(recording, unit, opener)
      steps[number] = joinRecord(recording, unit, number)
      for (const item of unit.units!)
        items.push(itemRecord(recording, item, itemNumber(opener, item.key as number)))
    }
  }
  return [...steps, ...items]
}

function stepRecord(recording: Recording, unit: Unit, step: number): StepRecord {
  const { run, shape, keptOf, workerId } = recording
  const { no, round, serial, forward, succeeded, note, tries, flying } = unit
  const { output, error, startedAt, finishedAt } = keptOf(no)
  const shown = statusOf(run, unit)
  // Whoever had it has given it away.
  const status = shown === 'running' && flying && workerId === null ? 'ready' : shown
  const priority = run.priority + (shape.steps[step]?.priority ?? 0)
  const isOpen = !hasEnded(unit) || isGoingBack(unit)
  const isTold = outcomeOf(unit) === 'completed' || outcomeOf(unit) === 'failed'
  return {
    ...{ step, status, round, output, error, startedAt, finishedAt, succeeded },
    name: nameOf(unit),
    fence: serial,
    // A wait begins the count anew.
    attempts: isTold ? Math.max(1, forward.attempt) : forward.attempt,
    failures: forward.failures,
    losses: forward.losses,
    openDependencies: UNDO_OPEN.has(status) ? undoneBefore(unit) : openDependencies(recording, unit, step),
    workerId: flying ? workerId : null,
    ...undoOf(recording, unit, status),
    availableAt: isOpen ? tries.due : null,
    waitingSince: note?.since ?? (status === 'waiting' ? startedAt : null),
    signalledAt: note?.['signal'] === undefined ? null : (finishedAt ?? startedAt ?? 0),
    failingSince: tries.series,
    branch: branchOf(unit),
    ...(isIrreversible(shape, step) ? { irreversible: true } : {}),
    ...(priority === 0 ? {} : { priority }),
  }
}

/** Of a map, its items are. */
function isIrreversible({ steps }: DefinitionShape, step: number): boolean {
  const { irreversible, kind } = steps[templateOf(step)]!
  return irreversible === true && (isItem(step) || kind !== 'map')
}

const UNDO_OPEN: ReadonlySet<StepStatus> = new Set(['compensating', 'compensation_failed'])

/** How many undos come before its own. Those that owe nothing only keep the order. */
function undoneBefore(unit: Unit): number {
  const { scope } = unit
  const found = new Set<Unit>()
  const seek = (u: Unit): void => {
    for (const v of scope!.units!) {
      if (!scope!.kind.before!(scope!, v).includes(u) || found.has(v)) continue
      if (isGoingBack(v) || (hasEnded(v) && !isUndone(v) && owes(v))) found.add(v)
      else seek(v)
    }
  }
  seek(unit)
  return found.size
}

/** The undo of a step begins, for people, with that of its run: it may have to wait for others. */
function statusOf({ paused }: Run, unit: Unit): StepStatus {
  const { scope, status, held } = unit
  const isToUndo = scope?.status === 'undoing' && hasEnded(unit) && !isUndone(unit) && owes(unit)
  if (isToUndo) return 'compensating'
  // It begins with the end of the pause.
  if (paused && held && status === 'pending') return 'pending'
  const shown = shownStatus(unit) as StepStatus
  return shown === 'pending' && !paused && isNext(unit) ? 'ready' : shown
}

/** Its scope, which is the run, has not begun it yet. */
function isNext(unit: Unit): boolean {
  const { scope } = unit
  if (scope === null || scope.scope !== null) return false
  return scope.kind.before!(scope, unit).every(hasEnded)
}

/** A pause is one more. */
function openDependencies({ run, shape }: Recording, unit: Unit, step: number): number {
  const held = run.paused && !unit.flying ? 1 : 0
  if (typeof unit.key === 'number') return unit.status === 'pending' ? 1 : 0
  const { dependsOn = [] } = shape.steps[step] ?? {}
  const open = dependsOn.filter((number) => {
    const { name, kind } = shape.steps[number]!
    return kind !== 'map' && kind !== 'repeat' && !hasEnded(at(run.root, name)!)
  })
  return open.length + held
}

function undoOf({ keptOf }: Recording, unit: Unit, status: StepStatus): Pick<StepRecord, 'undo' | 'undoOf'> {
  const { no, undo, note, of } = unit
  const hasBegun = isGoingBack(unit) || isUndone(unit)
  if (!hasBegun && status !== 'compensating') return { undo: null, undoOf: null }
  const { undoError, undoStartedAt, undoFinishedAt } = keptOf(no)
  const { attempt = 0, failures = 0, losses = 0 } = undo ?? {}
  const record: UndoRecord = {
    ...{ attempts: attempt, failures, losses, startedAt: undoStartedAt, finishedAt: undoFinishedAt },
    error: undoError,
    skipped: note?.skippedUndo === true,
  }
  return { undo: record, undoOf: (hasBegun ? of : unit.status) as UndoneStatus }
}

function branchOf(unit: Unit): JsonText {
  const why = outcomeOf(unit) === 'skipped' ? (unit.note?.skip as SkipReason | undefined) : undefined
  if (why !== undefined) return skipText(why)
  return unit.note?.decided === true ? RUNS : null
}

const NOT_UNDONE = { undo: null, undoOf: null } as const

/** What decides the items: as long as it does, it is the unit; then it has completed. Its undo is the unit’s if that has one as a whole. */
function openerRecord(recording: Recording, unit: Unit, step: number): StepRecord {
  const record = stepRecord(recording, unit, step)
  const { name } = recording.shape.steps[step]!
  const isDecided = unit.units!.length > 0 || outcomeOf(unit) === 'completed' || unit.phase === 'gather'
  if (!isDecided) return { ...record, name }
  const isWhole = unit.spec.compensate !== undefined
  const begun = unit.units!.flatMap(({ no }) => recording.keptOf(no).startedAt ?? [])
  const first = Math.min(...begun, record.startedAt ?? Number.POSITIVE_INFINITY)
  const at = Number.isFinite(first) ? first : record.finishedAt
  return {
    ...{ ...record, name, error: null, workerId: null },
    output: isWhole && outcomeOf(unit) !== 'completed' ? null : String(unit.units!.length),
    ...{ startedAt: at, finishedAt: at, attempts: Math.max(1, record.attempts) },
    ...(isWhole && record.undo !== null ? {} : { ...NOT_UNDONE, status: 'completed' }),
  }
}

/** What gathers the items. Their undo is none of its own. */
function joinRecord(recording: Recording, unit: Unit, step: number): StepRecord {
  const record = stepRecord(recording, unit, step)
  const isDeciding = unit.units!.length === 0 && !hasEnded(unit) && unit.phase !== 'gather'
  const isUnderWay = unit.status === 'open' && unit.phase === null
  if (record.undoOf !== null) return { ...record, ...NOT_UNDONE, status: outcomeOf(unit) as StepStatus }
  if (!isDeciding && !isUnderWay) {
    const ended = unit.units!.map(({ no }) => recording.keptOf(no).finishedAt ?? 0)
    const { startedAt, finishedAt } = record
    if (startedAt === null || finishedAt === null) return record
    const begun = Math.max(startedAt, ...ended)
    return { ...record, startedAt: begun, finishedAt: Math.max(begun, finishedAt) }
  }
  const openItems = unit.units!.filter((item) => !hasEnded(item)).length
  return {
    ...{ ...record, attempts: 0, failures: 0, losses: 0, workerId: null, availableAt: null, error: null },
    ...{ status: 'pending', startedAt: null, finishedAt: null, output: null },
    openDependencies: isDeciding ? 1 : openItems,
  }
}

function itemRecord(recording: Recording, unit: Unit, step: number): StepRecord {
  return { ...stepRecord(recording, unit, step), itemKey: unit.label ?? String(unit.key) }
}

export interface Standing {
  readonly status: StoredRunStatus
  readonly startAt: number | null
  readonly parked: boolean
}

/** The status of a run as people see it. */
export function shownRun(
  { status, startAt, parked }: Standing,
  steps: readonly { readonly status: StepStatus }[],
  now: number,
): RunStatus {
  if (status !== 'running') return status
  if (startAt !== null && startAt > now) return 'scheduled'
  if (parked) return 'parked'
  const any = (...statuses: readonly StepStatus[]) => steps.some((step) => statuses.includes(step.status))
  return any('waiting') && !any('ready', 'running') ? 'waiting' : 'running'
}
