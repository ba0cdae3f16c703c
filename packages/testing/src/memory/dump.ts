import type { Dump } from '../invariants/dump.ts'
import { runRecord, stepRecords } from './read.ts'
import type { Rows } from './rows.ts'
import { rowsOf } from './run-rows.ts'
import { valueRecords } from './value-rows.ts'

/** A copy of everything a memory store holds. */
export function dump(rows: Rows): Dump {
  return {
    definitions: [...rows.definitions.values()].map(({ saved }) => structuredClone(saved)),
    runs: [...rows.runs.values()].map((run) => ({
      run: runRecord(rows, run),
      steps: stepRecords(run),
      values: valueRecords(rows, run),
      stored: {
        openSteps: run.openSteps,
        endsAs: run.endsAs,
        stop: run.stop,
        begun: rowsOf(run).map(({ begun }) => begun),
      },
    })),
    queue: rows.queue.list(),
    told: [
      ...[...rows.signals.keys()].map((runId) => ({ what: 'signals' as const, runId })),
      ...[...rows.history.keys()].map((runId) => ({ what: 'history' as const, runId })),
      ...[...rows.values.keys()].map((runId) => ({ what: 'values' as const, runId })),
    ],
    workers: [...rows.workers.values()].map((worker) => ({ ...worker })),
  }
}
