import type { Dump, RunDump } from '../invariants/dump.ts'
import { runRecord, stepRecords } from './read.ts'
import type { Rows, RunRow } from './rows.ts'
import { rowsOf } from './run-rows.ts'
import { valueRecords } from './value-rows.ts'

/** A copy of everything a memory store holds. */
export function dump(rows: Rows): Dump {
  return {
    definitions: [...rows.definitions.values()].map(({ saved }) => structuredClone(saved)),
    runs: [...rows.runs.values()].map((run) => dumpRun(rows, run)),
    queue: rows.queue.list(),
    told: toldOf(rows),
    limits: limitsDump(rows),
    workers: [...rows.workers.values()].map((worker) => ({ ...worker })),
  }
}

export function dumpRun(rows: Rows, run: RunRow): RunDump {
  return {
    run: runRecord(rows, run),
    steps: stepRecords(run),
    values: valueRecords(rows, run),
    stored: {
      openSteps: run.openSteps,
      endsAs: run.endsAs,
      stop: run.stop,
      begun: rowsOf(run).map(({ begun }) => begun),
    },
  }
}

/** The runs that have something besides their rows. */
export function toldOf(rows: Rows): NonNullable<Dump['told']> {
  return [
    ...[...rows.signals.keys()].map((runId) => ({ what: 'signals' as const, runId })),
    ...[...rows.history.keys()].map((runId) => ({ what: 'history' as const, runId })),
    ...[...rows.values.keys()].map((runId) => ({ what: 'values' as const, runId })),
  ]
}

/** The slots and lines of limits. */
export function limitsDump({ limits }: Rows): NonNullable<Dump['limits']> {
  return {
    slots: [...limits.slots.values()].map(
      ({ definitionId: _, at: __, asOf: ___, place: ____, ...slot }) => slot,
    ),
    waiters: [...limits.waiters.values()].map(({ runId, step, fence, limit, key }) => ({
      runId,
      step,
      fence,
      limit,
      key,
    })),
  }
}
