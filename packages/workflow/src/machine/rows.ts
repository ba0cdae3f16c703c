import { join } from './scope.ts'
import { type Note, type Phase, type Run, type Spec, type Status, type Tries, Unit } from './state.ts'

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
  readonly priority: number
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
    rows.push({ ...rowOf(u), ...run.out.payloads.get(u) })
    u.row = u.status
    u.written = u.serial
  }
  return { run: runRowOf(run), rows, drop: run.out.drop }
}

export function runRowOf({ id, parent, paused, priority, born }: Run): RunRow {
  return { id, parent, paused, priority, born }
}

export function rowOf(u: Unit): Row {
  const { no, key, status, of, phase, serial, round, touched, succeeded, dropped, flying, recorded, note } = u
  const columns = { no, key, status, of, phase, serial, round, touched, succeeded, dropped, flying, recorded }
  const tries = { forward: { ...u.forward }, undo: u.undo === null ? null : { ...u.undo } }
  return { ...columns, ...tries, note, scope: u.scope === null ? null : u.scope.no }
}

/** Units from their rows, each after its scope. Parses, and decides nothing. */
export function parse(run: Run, rows: readonly Row[], spec: Spec): void {
  for (const row of rows.toSorted((one, other) => one.no - other.no)) {
    // What a handler gave is not in memory: it is read where it is needed.
    const { no, key, scope: scopeNo, forward, undo, output: _output, error: _error, ...columns } = row
    const scope = scopeNo === null ? null : run.units[scopeNo]!
    const u = new Unit(no, scope, key, scope === null ? spec : scope.kind.specOf!(scope.spec, key)!)
    const kept = { undo: undo === null ? null : { ...undo }, row: row.status, written: row.serial }
    Object.assign(u, columns, kept)
    Object.assign(u.forward, forward)
    run.units[no] = u
    join(scope, u)
    if (u.status === 'parked' || u.status === 'stuck') run.parked += 1
  }
  run.root = run.units[0]!
}
