import type pg from 'pg'
import type { Input } from '../load/input.ts'

/** What the trigger starts: each start is a run. */
export const STARTED = ['transfer', 'order', 'patient', 'gallery', 'checkout', 'errand'] as const
/** What the trigger calls: several calls may make one run. */
export const COLLECTING = ['edits', 'notices', 'rows'] as const
export type Collecting = (typeof COLLECTING)[number]

export function isCollecting(workflow: string): workflow is Collecting {
  return COLLECTING.some((name) => name === workflow)
}

/** How a run is started. `rollback` is started in a transaction that is rolled back: there must be no run. */
export type IntentKind = 'run' | 'many' | 'tx' | 'rollback'

/** A wanted run: written down before it is started, so that it outlives the process that starts it. */
export interface Intent {
  readonly key: string
  readonly workflow: (typeof STARTED)[number] | Collecting
  readonly version: number
  readonly kind: IntentKind
  readonly input: Input
}

export async function writeIntents(world: pg.Pool, intents: readonly Intent[]): Promise<void> {
  await world.query(
    `insert into intents (key, workflow, version, kind, input)
     select i.key, i.workflow, i.version, i.kind, i.input
     from json_to_recordset($1) as i (key text, workflow text, version integer, kind text, input json)`,
    [JSON.stringify(intents)],
  )
}

export async function openIntents(world: pg.Pool): Promise<readonly Intent[]> {
  const { rows } = await world.query<Intent>(
    `select key, workflow, version, kind, input from intents where state = 'open' order by key`,
  )
  return rows
}

export async function findIntent(world: pg.Pool, key: string): Promise<Intent | undefined> {
  const { rows } = await world.query<Intent>(
    'select key, workflow, version, kind, input from intents where key = $1',
    [key],
  )
  return rows[0]
}

/** Records the result of an intent. */
export async function closeIntent(
  world: pg.Pool,
  key: string,
  state: 'started' | 'rolled_back',
  runId: string | null,
): Promise<void> {
  await world.query('update intents set state = $2, run_id = $3 where key = $1', [key, state, runId])
}
