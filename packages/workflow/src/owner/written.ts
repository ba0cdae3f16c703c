import type { StoredRunStatus } from '../adapter/lifecycle.ts'
import type { JsonText } from '../adapter/new-item.ts'
import type { Few } from '../few.ts'
import type { Payload } from '../machine/changes.ts'
import type { Row, RunRow } from '../machine/index.ts'
import { hasEnded } from '../machine/outcomes.ts'
import type { Phase } from '../machine/records.ts'
import type { TakesUnit } from '../machine/rows.ts'
import { shownRunStatus } from '../machine/shown.ts'
import type { Unit } from '../machine/state.ts'
import type { PlainEnd, TurnedRun, WrittenStep } from '../store/index.ts'
import { packed, stateOfRun } from '../store/pack.ts'
import type { Asker } from './asker.ts'
import { textOf } from './json.ts'
import type { Owned } from './owned.ts'

// Rows of the machine as a commit writes them.

/** When handlers of a fold began and ended, by the number of their unit. Epoch milliseconds of the store’s clock. */
export type Times = Pick<Few<number, Timed>, 'get'>

interface Timed {
  readonly phase: Phase
  readonly startedAt: number
  readonly finishedAt: number
}

/** What rows are written with. */
export interface Writing {
  readonly times: Times
  readonly now: number
  readonly asker: Pick<Asker, 'errorOf' | 'causeOf'>
}

interface Rows {
  readonly births: readonly WrittenStep[]
  readonly updates: readonly WrittenStep[]
}

/** What a fold has made. */
interface Made {
  readonly rows: readonly Row[]
  readonly ends: readonly PlainEnd[]
}

const NO_ROWS: Rows = { births: [], updates: [] }

/** Takes the plain ends of a fold, as `ends`: no rows of the machine are made of these. */
export function takePlainEnds(
  owned: Owned,
  ends: PlainEnd[],
  { times, now }: Pick<Writing, 'times' | 'now'>,
): TakesUnit {
  const { born } = owned
  return (u, payload) => {
    if (u.no >= born || !isPlainEnd(u, payload)) return false
    const output = textOf(payload?.output)
    const time = times.get(u.no)
    owned.dues?.delete(u.no)
    owned.keepOutput(u.no, output)
    ends.push({ no: u.no, output, startedAt: time?.startedAt ?? now, finishedAt: time?.finishedAt ?? now })
    return true
  }
}

/** What most rows are. It ended at its first attempt, and nothing else is to be said of it. */
function isPlainEnd(u: Unit, payload: Payload | undefined): boolean {
  const { attempt, failures, losses, kills, series } = u.forward
  return (
    u.status === 'completed' &&
    u.phase === 'run' &&
    u.serial === 1 &&
    u.round === 1 &&
    u.note === null &&
    u.undo === null &&
    payload?.error === undefined &&
    payload?.outputOf === undefined &&
    !u.succeeded &&
    u.dropped === 0 &&
    attempt === 1 &&
    failures + losses + kills === 0 &&
    series === null
  )
}

/** Sorts the other rows of a fold, and remembers what memory needs of them. */
export function rowsOf(owned: Owned, { rows, ends }: Made, writing: Writing): Rows {
  const { born } = owned
  owned.born = owned.run.born
  if (rows.length === 0) return NO_ROWS
  const births: WrittenStep[] = []
  const updates: WrittenStep[] = []
  for (const row of rows) {
    keepDue(owned, row)
    const step = writtenStep(owned, row, writing)
    if (row.outputOf !== undefined && !('output' in row))
      copyOutput(owned, step, { of: row.outputOf, rows, ends })
    if (row.no >= born) births.push(step)
    else updates.push(step)
  }
  return { births, updates }
}

function keepDue(owned: Owned, { no }: Row): void {
  const u = owned.run.units[no]
  const due = u === undefined || hasEnded(u) ? null : u.tries.due
  if (due === null) owned.dues?.delete(no)
  else {
    owned.dues ??= new Map()
    owned.dues.set(no, due)
  }
}

type Mutable<Value> = { -readonly [Name in keyof Value]: Value[Name] }

function writtenStep(owned: Owned, row: Row, { times, now, asker }: Writing): WrittenStep {
  const step = packed(row) as Mutable<WrittenStep>
  const u = owned.run.units[row.no]
  if (row.item !== undefined) {
    step.item = textOf(row.item)
    owned.keepItem(row.no, step.item)
  }
  if ('error' in row) {
    const isWord = typeof row.error === 'string' && u !== undefined
    step.error = textOf(isWord ? asker.errorOf(owned, u, row.error as string) : row.error)
  }
  if ('output' in row) keepOutput(owned, step, textOf(row.output))
  const flight = owned.flights.get(row.no)
  const time = times.get(row.no)
  if (row.undo !== null && isOfUndo(row, (time ?? flight)?.phase)) step.isUndo = true
  if (time !== undefined) {
    step.startedAt = time.startedAt
    step.finishedAt = time.finishedAt
  } else if (row.flying && flight?.calledAt != null) step.startedAt = flight.startedAt
  if (u !== undefined && hasEnded(u)) step.finishedAt ??= now
  return step
}

/** The output of a unit that may have come in this very fold: then the store does not have it yet. */
function copyOutput(
  owned: Owned,
  step: Mutable<WrittenStep>,
  { of, rows, ends }: Made & { readonly of: number },
): void {
  const end = ends.find(({ no }) => no === of)
  const row = rows.find((each) => each.no === of && 'output' in each)
  const known = end?.output ?? (row === undefined ? owned.outputOf(of) : textOf(row.output))
  if (known === undefined) step.outputOf = of
  else keepOutput(owned, step, known)
}

/** Whether what a fold says of a unit is about its undo. In the fold that ends its way forward its undo may begin. */
function isOfUndo({ undo, status }: Row, phase: Phase | undefined): boolean {
  if (phase !== undefined) return phase === 'undo'
  return status === 'stuck' || status === 'undone' || undo!.failures + undo!.losses > 0
}

function keepOutput(owned: Owned, step: Mutable<WrittenStep>, output: JsonText): void {
  step.output = output
  owned.keepOutput(step.no, output)
}

/** The run’s own row, when it has turned. */
export function turnedRun(owned: Owned, known: RunRow, { now, asker }: Writing): TurnedRun {
  const { run, code } = owned
  const { deadlineAt, priority, paused, parked } = known
  const isOver = run.out.ended !== null
  return {
    status: shownRunStatus(run) as StoredRunStatus,
    deadlineAt,
    priority,
    paused,
    parked,
    state: isOver && isUsualEnd(known, code.fresh) ? null : stateOfRun(known),
    cause: owned.causeText(asker),
    finishedAt: isOver ? now : null,
  }
}

/** It has completed as nearly all do: its row says so with its status alone, see {@link endOf}. */
function isUsualEnd({ born, ends, root }: RunRow, fresh: RunRow): boolean {
  const { attempt, failures, losses, kills } = root.forward
  return (
    ends === 1 &&
    born === fresh.born &&
    root.status === 'completed' &&
    root.serial === 0 &&
    root.round === 1 &&
    !root.touched &&
    root.dropped === 0 &&
    root.note === null &&
    root.undo === null &&
    attempt + failures + losses + kills === 0
  )
}

/** What the row of a run that has completed leaves out. */
export const endOf = ({ born, root }: RunRow): Pick<RunRow, 'born' | 'ends' | 'root'> => ({
  born,
  ends: 1,
  root: { ...root, status: 'completed' },
})
