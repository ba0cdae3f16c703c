import type { Note, Tries } from '../machine/records.ts'
import type { RunRow as Known, Row } from '../machine/row.ts'
import type { Counts, StepRow } from './step-row.ts'

/** What of a machine’s row only the machine reads. */
type State = readonly [
  of: Row['of'],
  phase: Row['phase'],
  serial: number,
  flags: number,
  within: number | null,
  dropped: number,
  kills: number,
  series: number | null,
  undoKills: number,
  undoSeries: number | null,
  note: Note | null,
]

const TOUCHED = 1
const SUCCEEDED = 2
const FLYING = 4
const RECORDED = 8

/** What nearly all rows of a status say: these need no text. */
const USUAL: Readonly<Partial<Record<Row['status'], string>>> = {
  pending: textOf([null, null, 0, 0, null, 0, 0, null, 0, null, null]),
  running: textOf([null, 'run', 1, TOUCHED + FLYING, null, 0, 0, null, 0, null, null]),
  completed: textOf([null, 'run', 1, TOUCHED, null, 0, 0, null, 0, null, null]),
}

function textOf(state: State): string {
  return JSON.stringify(state)
}

/** A machine’s row as a store keeps it, without its payloads. */
export function packed(row: Row): StepRow {
  const { no, scope, key, label = null, status, round, forward, undo } = row
  const { attempt, failures, losses, due } = forward
  const state = stateOf(row)
  return {
    no,
    scope: scope!,
    name: typeof key === 'string' ? key : null,
    index: typeof key === 'number' ? key : null,
    label,
    status,
    round,
    attempt,
    failures,
    losses,
    due,
    undo: undo === null ? null : countsOf(undo),
    state: state === USUAL[status] ? null : state,
  }
}

/** Of a row that has no row in the steps: that of the run’s root. */
function stateOf(row: Row): string {
  const flags =
    (row.touched ? TOUCHED : 0) |
    (row.succeeded ? SUCCEEDED : 0) |
    (row.flying ? FLYING : 0) |
    (row.recorded ? RECORDED : 0)
  const { of, phase, serial, within, dropped, forward, undo, note } = row
  const { kills, series } = forward
  const ofUndo = [undo?.kills ?? 0, undo?.series ?? null] as const
  return textOf([of, phase, serial, flags, within, dropped, kills, series, ofUndo[0], ofUndo[1], note])
}

const countsOf = ({ attempt, failures, losses, due }: Tries): Counts => ({ attempt, failures, losses, due })

/** The machine’s row again. */
export function unpacked(step: StepRow): Row {
  const { no, scope, name, index, label, status, round, undo, state } = step
  const [of, phase, serial, flags, within, dropped, kills, series, undoKills, undoSeries, note] = JSON.parse(
    state ?? USUAL[status] ?? '',
  ) as State
  return {
    no,
    scope,
    key: name ?? index!,
    label: label ?? undefined,
    status,
    of,
    phase,
    serial,
    round,
    touched: (flags & TOUCHED) !== 0,
    succeeded: (flags & SUCCEEDED) !== 0,
    within,
    dropped,
    flying: (flags & FLYING) !== 0,
    recorded: (flags & RECORDED) !== 0,
    forward: { ...countsOf(step as Tries & StepRow), kills, series },
    undo: undo === null ? null : { ...undo, kills: undoKills, series: undoSeries },
    note,
  }
}

/** What of a run only the machine reads: the number of its next unit, how often it has ended, and its root. */
export function stateOfRun({ born, ends, root }: Known): string {
  const { status, round, forward, undo } = root
  const { attempt, failures, losses, due } = forward
  const counts = undo === null ? null : countsOf(undo)
  const own = stateOf({ ...root, note: noteOfRoot(root.note) })
  return JSON.stringify([born, ends, status, round, attempt, failures, losses, due, counts, own])
}

/** The error of its cause stands in a column of its own. */
function noteOfRoot(note: Note | null): Note | null {
  if (note?.cause?.error === undefined) return note
  const { error: _, ...cause } = note.cause
  return { ...note, cause }
}

/** The same again, over the root of a run that nobody has begun. */
export function knownOfRun(state: string, fresh: Known): Pick<Known, 'born' | 'ends' | 'root'> {
  const [born, ends, status, round, attempt, failures, losses, due, undo, own] = JSON.parse(state) as [
    ...[number, number, Row['status'], number, number, number, number, number | null, Counts | null, string],
  ]
  const step = { no: 0, scope: 0, name: String(fresh.root.key), index: null, label: null, status, round }
  const root = unpacked({ ...step, attempt, failures, losses, due, undo, state: own })
  return { born, ends, root: { ...root, scope: null } }
}
