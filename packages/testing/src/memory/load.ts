import type { PayloadRequest, RunPayloads } from '@belay/workflow/adapter'
import type { Rows, StepRow } from './rows.ts'
import { itemOf, lastRoundsOf, outputsOf, rowOf } from './run-rows.ts'
import { heartbeatsOf } from './value-rows.ts'

export function load(rows: Rows, requests: readonly PayloadRequest[]): readonly RunPayloads[] {
  const withBranches = requests.some(({ branches }) => branches)
  return requests.flatMap(
    ({ runId, steps, heartbeats: asked, lastRoundsOf: loops = [], outputsOf: maps }) => {
      const run = rows.runs.get(runId)
      if (run === undefined) return []
      const heartbeats = asked === undefined ? {} : { heartbeats: heartbeatsOf(rows, runId, asked) }
      const outputs =
        maps === undefined ? {} : { outputsOf: maps.map((map) => ({ map, outputs: outputsOf(run, map) })) }
      const wanted = [...new Set([...steps, ...lastRoundsOf(run, loops)])]
      const payloads = wanted.flatMap((number) => {
        const row = rowOf(run, number)
        if (row === undefined) return []
        const { step, output, error, availableAt, waitingSince, signalledAt, failingSince, succeeded } = row
        const own = { step, output, error, availableAt, waitingSince, signalledAt, failingSince, succeeded }
        return [
          {
            ...own,
            ...itemOf(row),
            ...(withBranches ? branchOf(row) : {}),
          },
        ]
      })
      return [
        {
          runId,
          input: run.input,
          cause: run.cause,
          steps: payloads,
          ...outputs,
          ...heartbeats,
          now: rows.now,
        },
      ]
    },
  )
}

function branchOf({ branch, undoOf, status, begun, startedAt }: StepRow) {
  const undoneStatus = undoOf ?? status
  const started = begun ?? startedAt !== null
  return { branch, failed: undoneStatus === 'failed', undoneStatus, started }
}
