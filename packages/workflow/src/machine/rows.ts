import type { Payload } from './changes.ts'
import { hasEnded } from './outcomes.ts'
import type { Tries } from './records.ts'
import type { Row, RunRow } from './row.ts'
import { join } from './scope.ts'
import { type Run, type Spec, Unit } from './state.ts'

/** The rows of one fold. */
export interface Commit {
  /** Null: the run has not turned. */
  readonly run: RunRow | null
  readonly rows: readonly Row[]
  readonly drop: readonly number[]
}

/** Takes what changed of a unit by itself, so that no row of it is made. Whether it has. */
export type TakesUnit = (u: Unit, payload: Payload | undefined) => boolean

/** The rows that a fold changed, but of the units that somebody takes. Called once, at the end of the fold. */
export function commit(run: Run, takes?: TakesUnit): Commit {
  const { dirty, payloads, drop } = run.out
  const rows: Row[] = []
  for (let place = 0; place < dirty.size; place += 1) {
    const u = dirty.keyAt(place)
    // It was dropped in this very fold, or is the root.
    if (run.units[u.no] !== u || u === run.root) continue
    const payload = payloads.get(u)
    if (takes?.(u, payload) === true) {
      u.row = u.status
      u.written = u.serial
    } else rows.push(changedRow(u, payload))
  }
  return { run: turned(run), rows, drop }
}

function changedRow(u: Unit, payload: Payload | undefined): Row {
  u.row = u.status
  u.written = u.serial
  const row = rowOf(u)
  return payload === undefined ? row : Object.assign(row, payload)
}

function turned(run: Run): RunRow | null {
  const { root, known, out } = run
  const isSame =
    known !== null &&
    !out.dirty.has(root) &&
    out.drop.length === 0 &&
    run.paused === known.paused &&
    run.priority === known.priority &&
    run.parked > 0 === known.parked &&
    run.deadlineAt === known.deadlineAt
  if (isSame) return null
  if (hasEnded(root) && out.ended !== null) run.ends += 1
  run.known = runRowOf(run, changedRow(root, out.payloads.get(root)))
  return run.known
}

export function runRowOf(run: Run, root: Row): RunRow {
  const { id, parent, paused, priority, born, deadlineAt, ends } = run
  return { id, parent, paused, priority, parked: run.parked > 0, born, deadlineAt, ends, root }
}

/** Written out, as is `unitOf`: every change and every load comes through here, and a spread costs four times as much. */
export function rowOf(u: Unit): Row {
  return {
    no: u.no,
    scope: u.scope === null ? null : u.scope.no,
    key: u.key,
    label: u.label,
    status: u.status,
    of: u.of,
    phase: u.phase,
    serial: u.serial,
    round: u.round,
    touched: u.touched,
    succeeded: u.succeeded,
    within: u.within,
    dropped: u.dropped,
    flying: u.flying,
    recorded: u.recorded,
    forward: copyOf(u.forward),
    undo: u.undo === null ? null : copyOf(u.undo),
    note: u.note,
  }
}

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
  run.root = unitOf(run.known!.root, null, spec)
  run.units[0] = run.root
  count(run, run.root)
  for (const row of rows.toSorted((one, other) => one.no - other.no)) {
    const scope = run.units[row.scope!]!
    const u = unitOf(row, scope, scope.kind.specOf!(scope.spec, row.key)!)
    run.units[row.no] = u
    join(scope, u)
    count(run, u)
    run.born = Math.max(run.born, row.no + 1)
  }
}

function count(run: Run, { status }: Unit): void {
  if (status === 'parked' || status === 'stuck') run.parked += 1
}

/** What a handler gave is not in memory: it is read where it is needed. */
function unitOf(row: Row, scope: Unit | null, spec: Spec): Unit {
  const u = new Unit(row.no, scope, row.key, spec, row.round)
  u.label = row.label
  u.status = row.status
  u.of = row.of
  u.phase = row.phase
  u.serial = row.serial
  u.touched = row.touched
  u.succeeded = row.succeeded
  u.within = row.within
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
