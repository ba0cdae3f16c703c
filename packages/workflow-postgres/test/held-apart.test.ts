import { describe, expect, it } from 'vitest'
import type { Connection } from '../src/connection/connection.ts'
import { LeaseJournal } from '../src/rows/lease-journal.ts'
import { heldAndTrimmed } from '../src/workers/held.ts'

const RUNS = Array.from({ length: 10 }, (_, at) => `run ${at}`)

/** A database that holds a step of each run, cannot read some of them, and cannot merge the journal then. */
function damaged(bad: readonly string[], trimming: Error | null) {
  const damage = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
  const query = async ({ name }: { readonly name: string | null }, [, runIds]: readonly unknown[]) => {
    const asked = (runIds as readonly string[] | null) ?? RUNS
    if (name === 'trim_leases') throw trimming ?? damage
    if (name === 'read_journaled_runs') return RUNS.map((run_id) => ({ run_id }))
    if (asked.some((runId) => bad.includes(runId))) throw damage
    return asked.map((run_id) => ({ run_id, step: 0, undo_of: null }))
  }
  return { query } as unknown as Connection
}

const compared = async (connection: Connection) => {
  const refused: string[] = []
  const onRefused = ({ runId }: { readonly runId: string }) => void refused.push(runId)
  const claims = await heldAndTrimmed(connection, { workerId: 'worker', onRefused }, new LeaseJournal())
  return { refused, read: claims.map(({ runId }) => runId) }
}

describe('a journal of which the database cannot read a run', () => {
  it('is left as it is, and every other step is found', async () => {
    const bad = ['run 3', 'run 7']

    const { refused, read } = await compared(damaged(bad, null))

    expect(refused).toEqual(bad)
    expect(read).toEqual(RUNS.filter((runId) => !bad.includes(runId)))
  })

  it('is not blamed for a journal that cannot be merged for another reason', async () => {
    const denied = Object.assign(new Error('permission denied'), { code: '42501' })

    await expect(compared(damaged([], denied))).rejects.toBe(denied)
  })
})
