import { createEngine, type Engine, type RunHandle } from '@belay/workflow'
import { isTerminal } from '@belay/workflow/adapter'
import type { Pool } from 'pg'
import { expect, vi } from 'vitest'
import { postgres } from '../../src/index.ts'
import { type Line, WorkerProcess } from '../processes/child.ts'
import type { TestDatabase } from '../setup/database.ts'
import { within } from '../setup/within.ts'
import { apply, entries, everyFeature } from './every-feature.mjs'

/** How often a process called each verb of the store, and how often that call found something. */
export interface Calls {
  readonly calls: Readonly<Record<string, number>>
  readonly finds: Readonly<Record<string, number>>
}

/** The result of one case: how its runs ended, and all that its handlers did, in order. Without ids, so that all correct results are equal. */
export interface Left {
  readonly runs: readonly unknown[]
  readonly calls: readonly string[]
  readonly effects: readonly string[]
  readonly ledger: readonly string[]
  /** By key, the first and the last moment of an effect or a row of the ledger. */
  readonly moments: ReadonlyMap<string, readonly [first: number, last: number]>
}

export interface Case {
  readonly name: string
  readonly fails: boolean
  /** Like `before settle 3`; empty for none. */
  readonly kill: string
}

/** For hangs. */
export const END_MS = 60_000

/** Lets a process work until it kills itself. If it reaches the end instead, returns its calls. `application` names the file with its workflows. */
export async function letDie(
  database: TestDatabase,
  { name, fails, kill }: Case,
  application: 'every-feature' | 'flow-control',
): Promise<Calls | null> {
  const process = new WorkerProcess(
    {
      ...{ DATABASE_URL: database.url, APPLICATION: application },
      ...{ NAME: name, FAILS: fails ? 'yes' : 'no', KILL: kill },
    },
    '../kill-points/killed-worker.mjs',
  )
  // biome-ignore lint/style/noRestrictedGlobals: bounds a wait.
  const timer = setTimeout(() => void process.kill(), END_MS)
  try {
    const exit = process.exit()
    const ended = process
      .saysEvent('ended')
      .then(() => process.lines.find(({ event }) => event === 'ended') as Line & Calls)
    const code = await exit
    if (code === null) {
      await ended.catch(() => {})
      return null
    }
    return await ended
  } finally {
    clearTimeout(timer)
  }
}

/** Does what an application does after its process died: repeats everything, and works until all runs have ended. */
export async function finish(database: TestDatabase, { name, fails }: Case): Promise<Left> {
  const adapter = postgres(database.url, { connectionsMax: 2, transactionsMax: 1, listen: false })
  const [workflow, entry] = [everyFeature(name, database.pool), entries(name)]
  const engine = createEngine({ adapter, workflows: [workflow, entry], name: `${name}-second`, lease: '3s' })
  try {
    await engine.start()
    const runs: readonly RunHandle[] = await apply(engine, { workflow, entry, fails })
    await within(Promise.allSettled(runs.map((run) => run.result())), END_MS, `the runs of ${name} to end`)
    const { id } = runs[0]!
    const children = [
      await startedFor(engine, id, { workflow: `${name}-gift` }),
      await startedFor(engine, id, { workflow: `${name}-card`, key: `child:${id}:cards[1]` }),
      await startedFor(engine, id, { workflow: `${name}-card`, key: `child:${id}:cards[2]` }),
    ]
    const followUp = await startedFor(engine, id, { workflow: `${name}/ended` })
    const runIds = [...runs.map((run) => run.id), ...children, followUp]
    await expectRest(database.pool, name, runIds)
    return await leftOf(database.pool, runIds, engine)
  } finally {
    await engine.close({ timeout: 0 })
  }
}

/** The one run of a workflow, with this key if one is given, that was started for another, once it has ended. */
async function startedFor(
  engine: Engine,
  parentId: string,
  which: { readonly workflow: string; readonly key?: string },
): Promise<string> {
  return vi.waitFor(
    async () => {
      const found = await engine.runs.list({ parentId, ...which })
      expect(
        found.map(({ status }) => isTerminal(status)),
        `the runs of ${which.workflow} for ${parentId} with key ${which.key}`,
      ).toEqual([true])
      return found[0]!.id
    },
    { timeout: END_MS, interval: 20 },
  )
}

/** Asserts that nothing is leased, the dead worker is forgotten, and no step of the runs is queued. Claims remove stale queue rows once they are due. */
export async function expectRest(pool: Pool, name: string, runIds: readonly string[]): Promise<void> {
  const restless = `
    select 'leased' as what from belay.workflow_steps
      where run_id = any ($1::uuid[]) and (status in ('running', 'compensating'))
    union all select 'queued' from belay.workflow_queue_overview q join belay.workflow_steps s using (run_id, step, fence)
      where run_id = any ($1::uuid[])
    union all select 'worker' from belay.workflow_workers where name = $2`
  await vi.waitFor(
    async () => {
      const { rows } = await pool.query(restless, [runIds, name])
      if (rows.length === 0) return
      throw new Error(
        `The runs of ${name} ended, but the store still has leases, workers or queued steps: ${JSON.stringify(rows)}.`,
      )
    },
    { timeout: END_MS, interval: 20 },
  )
}

async function leftOf(pool: Pool, runIds: readonly string[], engine: Engine): Promise<Left> {
  const ofRuns = new RegExp(`^(${runIds.join('|')}):`)
  const read = async (table: string) => {
    const { rows } = await pool.query<{ moment: number; key: string }>(
      `select moment, key from ${table} where split_part(key, ':', 1) = any ($1) order by moment`,
      [runIds],
    )
    return rows.map(({ moment, key }) => ({
      moment,
      key: key.replace(ofRuns, (_, id) => `${runIds.indexOf(id)}:`),
    }))
  }
  const [calls, effects, ledger] = [await read('calls'), await read('effects'), await read('ledger')]
  const moments = new Map<string, readonly [number, number]>()
  for (const { key, moment } of [...calls, ...ledger]) {
    const [first = moment, last = moment] = moments.get(key) ?? []
    moments.set(key, [Math.min(first, moment), Math.max(last, moment)])
  }
  const keysOf = (rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key).sort()
  return {
    runs: await Promise.all(runIds.map((runId) => endOf(engine, runId))),
    calls: keysOf(calls),
    effects: keysOf(effects),
    ledger: keysOf(ledger),
    moments,
  }
}

/** How a run ended, without what differs between runs: ids, attempts, instants, and errors that steps had before they completed. */
async function endOf(engine: Engine, runId: string): Promise<unknown> {
  const run = await engine.runs.get(runId)
  const steps = run?.steps.map(({ name, status, output, progress }) => ({
    ...{ name, status, output },
    done: progress?.done,
  }))
  const { status, cause, values } = run ?? {}
  const text = JSON.stringify({ status, cause, steps, values }, (key, value) =>
    key === 'at' || key === 'stack' || key === 'attempt' ? undefined : value,
  )
  return JSON.parse(text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'run'))
}
