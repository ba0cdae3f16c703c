import { join } from './scope.ts'
import {
  type Note,
  type Payload,
  type Phase,
  type Run,
  type Spec,
  type Status,
  type Tries,
  Unit,
} from './state.ts'

/** A unit as the store keeps it: the columns of its row. Output and error are there where they changed. */
export interface Row {
  readonly no: number
  /** The number of its scope; null for the root. */
  readonly scope: number | null
  readonly key: string | number
  readonly status: Status
  readonly of: Status | null
  readonly phase: Phase | null
  readonly serial: number
  readonly round: number
  readonly touched: boolean
  readonly succeeded: boolean
  readonly dropped: number
  /** Its ask is with somebody. */
  readonly flying: boolean
  /** The row was committed before the handler was called. */
  readonly recorded: boolean
  readonly forward: Tries
  readonly undo: Tries | null
  readonly note: Note | null
  readonly output?: unknown
  readonly error?: unknown
}

/** What the run’s own row keeps for the machine. */
export interface RunRow {
  readonly id: string
  readonly parent: string | null
  readonly paused: boolean
  /** The number of the next unit. */
  readonly born: number
}

/** The rows of one fold. */
export interface Commit {
  readonly run: RunRow
  readonly rows: readonly Row[]
  readonly drop: readonly number[]
}

/** The rows that a fold changed. Called once, at the end of the fold. */
export function commit(run: Run): Commit {
  const rows: Row[] = []
  for (const u of run.out.dirty) {
    // It was dropped in this very fold.
    if (run.units[u.no] !== u) continue
    rows.push(rowOf(u, run.out.payloads.get(u)))
    u.row = u.status
    u.written = u.serial
  }
  const { id, parent, paused, born } = run
  return { run: { id, parent, paused, born }, rows, drop: run.out.drop }
}

/** Written out, as is `unitOf`: every change and every load comes through here, and a spread costs four times as much. */
function rowOf(u: Unit, payload: Payload | undefined): Row {
  const row: Mutable<Row> = {
    no: u.no,
    scope: u.scope === null ? null : u.scope.no,
    key: u.key,
    status: u.status,
    of: u.of,
    phase: u.phase,
    serial: u.serial,
    round: u.round,
    touched: u.touched,
    succeeded: u.succeeded,
    dropped: u.dropped,
    flying: u.flying,
    recorded: u.recorded,
    forward: copyOf(u.forward),
    undo: u.undo === null ? null : copyOf(u.undo),
    note: u.note,
  }
  if (payload === undefined) return row
  if ('output' in payload) row.output = payload.output
  if ('error' in payload) row.error = payload.error
  return row
}

type Mutable<Fields> = { -readonly [Name in keyof Fields]: Fields[Name] }

const copyOf = ({ attempt, failures, losses, kills, due, series }: Tries): Tries => ({
  attempt,
  failures,
  losses,
  kills,
  due,
  series,
})

/** Units from their rows, each after its scope. Parses, and decides nothing. */
export function parse(run: Run, rows: readonly Row[], spec: Spec): void {
  for (const row of rows.toSorted((one, other) => one.no - other.no)) {
    const scope = row.scope === null ? null : run.units[row.scope]!
    const u = unitOf(row, scope, scope === null ? spec : scope.kind.specOf!(scope.spec, row.key)!)
    run.units[row.no] = u
    join(scope, u)
    if (u.status === 'parked' || u.status === 'stuck') run.parked += 1
  }
  run.root = run.units[0]!
}

/** What a handler gave is not in memory: it is read where it is needed. */
function unitOf(row: Row, scope: Unit | null, spec: Spec): Unit {
  const u = new Unit(row.no, scope, row.key, spec, row.round)
  u.status = row.status
  u.of = row.of
  u.phase = row.phase
  u.serial = row.serial
  u.touched = row.touched
  u.succeeded = row.succeeded
  u.dropped = row.dropped
  u.flying = row.flying
  u.recorded = row.recorded
  u.undo = row.undo === null ? null : copyOf(row.undo)
  u.note = row.note
  u.row = row.status
  u.written = row.serial
  Object.assign(u.forward, row.forward)
  return u
}
