import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { databaseOf, execute } from '../database.ts'
import { type Drained, drain } from '../drain.ts'
import type { Store } from '../worker/messages.ts'
import { eachRound, type Section } from './section.ts'

interface Place {
  readonly name: string
  readonly runs: number
  /** Creates the store for `work`, and removes it afterwards. */
  with(bench: Bench, work: (store: Store) => Promise<Drained>): Promise<Drained>
}

const PLACES: readonly Place[] = [
  {
    name: 'PostgreSQL, synchronous_commit on',
    runs: 20_000,
    with: (bench, work) => bench.server.freshDatabase((url) => work({ kind: 'postgres', url })),
  },
  {
    name: 'PostgreSQL, synchronous_commit off',
    runs: 20_000,
    with: (bench, work) =>
      bench.server.freshDatabase(async (url) => {
        await execute(url, `alter database ${databaseOf(url)} set synchronous_commit = off`)
        return work({ kind: 'postgres', url })
      }),
  },
  { name: 'PGlite in memory', runs: 3_000, with: (_bench, work) => work({ kind: 'pglite' }) },
  { name: 'PGlite in a directory', runs: 3_000, with: (_bench, work) => inDirectory(work) },
  { name: 'the memory adapter', runs: 20_000, with: (_bench, work) => work({ kind: 'memory' }) },
]

export const durabilitySection: Section = {
  name: 'durability',
  about: 'the chain of 3 with synchronous_commit off, on PGlite, and on the memory adapter',
  async measure(bench, record) {
    await eachRound(bench, async (round) => {
      for (const place of PLACES) {
        const runs = bench.quick ? place.runs / 10 : place.runs
        const warmUpRuns = bench.quick ? 0 : Math.ceil(runs / 5)
        const name = `chain of 3 on ${place.name}`
        await record.attempt(name, async () => {
          const reference = await bench.reference()
          const { stepsPerSecond } = await place.with(bench, (store) =>
            drain({ store, workload: 'chain', runs, startedBy: 'itself', warmUpRuns }),
          )
          record.add(name, { unit: 'steps/s', value: stepsPerSecond, reference })
          bench.progress(`round ${round}: ${name}: ${Math.round(stepsPerSecond)} steps/s`)
        })
      }
    })
  },
}

async function inDirectory(work: (store: Store) => Promise<Drained>): Promise<Drained> {
  const directory = await mkdtemp(join(tmpdir(), 'belay-bench-pglite-'))
  try {
    return await work({ kind: 'pglite', directory })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
