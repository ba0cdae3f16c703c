import type { Dump, RunDump } from '../invariants/dump.ts'
import { dumpRun, limitsDump, toldOf } from './dump.ts'
import { runRecord } from './read.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { rowsOf } from './run-rows.ts'

/** A run as it was last looked at, with copies of everything that its dump is made of. */
interface Seen {
  readonly dump: RunDump
  /** The fields of its record, and those of each of its steps. */
  readonly record: readonly unknown[]
  readonly steps: readonly (readonly unknown[])[]
  readonly values: unknown
}

const seenRuns = new WeakMap<RunRow, Seen>()

/**
 * Everything a memory store holds, for a reader that looks again and again and changes nothing. A run that has not changed since the last look is
 * the same object as then. Each look finds the changes by itself: what writes rows need not tell.
 */
export function look(rows: Rows): Dump {
  return {
    definitions: [...rows.definitions.values()].map(({ saved }) => saved),
    runs: [...rows.runs.values()].map((run) => lookAt(rows, run)),
    queue: rows.queue.list(),
    told: toldOf(rows),
    limits: limitsDump(rows),
    workers: [...rows.workers.values()].map((worker) => ({ ...worker })),
  }
}

function lookAt(rows: Rows, run: RunRow): RunDump {
  const steps = rowsOf(run)
  const values = rows.values.get(run.runId)
  const seen = seenRuns.get(run)
  if (seen !== undefined && seen.values === values && isSame(rows, { run, steps, seen })) return seen.dump
  const dump = dumpRun(rows, run)
  seenRuns.set(run, { dump, values, record: Object.values(dump.run), steps: steps.map(Object.values) })
  return dump
}

/** A status may change with time alone, so the run's record is made anew. */
function isSame(
  rows: Rows,
  { run, steps, seen }: { readonly run: RunRow; readonly steps: readonly StepRow[]; readonly seen: Seen },
): boolean {
  const { stored } = seen.dump
  return (
    steps.length === seen.steps.length &&
    stored?.openSteps === run.openSteps &&
    stored.endsAs === run.endsAs &&
    stored.stop === run.stop &&
    isEqual(seen.record, runRecord(rows, run)) &&
    steps.every((step, index) => isEqual(seen.steps[index]!, step))
  )
}

/** Whether a row's fields are as they were. What a field refers to is replaced, never changed. */
function isEqual(before: readonly unknown[], row: object): boolean {
  let index = 0
  for (const field in row) {
    if (before[index] !== row[field as keyof object]) return false
    index += 1
  }
  return index === before.length
}
