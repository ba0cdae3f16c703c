import type { Dump, QueueDump, RunDump, WorkerDump } from '@belay/testing'
import type { Adapter, SavedDefinition } from '@belay/workflow/adapter'
import type { Query } from './statements.ts'

/** All rows of a world's schema. Reads again only what has changed. */
export class SqlDump {
  readonly #reader: Adapter
  readonly #query: Query
  readonly #text: string
  #leftOut: string | undefined
  #definitions: readonly SavedDefinition[] = []
  /** By run: its rows, and a fingerprint of them. */
  #runs = new Map<string, { readonly print: string; readonly dump: RunDump }>()

  constructor(reader: Adapter, query: Query, schema: string) {
    this.#reader = reader
    this.#query = query
    this.#text = statement(schema)
  }

  /** A run that was damaged: it may be unreadable. */
  leaveOut(runId: string): void {
    this.#leftOut = runId
  }

  async read(): Promise<Dump> {
    const [row] = (await this.#query(this.#text)) as readonly { readonly held: Held }[]
    const { definitions, runs, queue, workers, limits } = row!.held
    if (definitions.length > this.#definitions.length) {
      this.#definitions = await this.#reader.readDefinitions(definitions)
    }
    const known = this.#runs
    this.#runs = new Map()
    for (const { id, print, stored } of runs) {
      if (id === this.#leftOut) continue
      const before = known.get(id)
      const dump = before?.print === print ? before.dump : await this.#readRun(id, stored)
      this.#runs.set(id, { print, dump })
    }
    return {
      definitions: this.#definitions,
      runs: [...this.#runs.values()].map(({ dump }) => dump),
      queue,
      workers,
      limits,
    }
  }

  async #readRun(runId: string, stored: Stored): Promise<RunDump> {
    const found = await this.#reader.readRun(runId)
    if (found === null) throw new Error(`Run ${runId} is in the tables, but readRun() does not find it.`)
    return { ...found, stored }
  }
}

type Stored = NonNullable<RunDump['stored']>

interface Held {
  readonly definitions: readonly number[]
  readonly runs: readonly { readonly id: string; readonly print: string; readonly stored: Stored }[]
  readonly queue: readonly QueueDump[]
  readonly workers: readonly WorkerDump[]
  readonly limits: NonNullable<Dump['limits']>
}

/** One statement, so that its parts are consistent. One hint per step is enough; some hints are of steps that need no claim any more. */
function statement(schema: string): string {
  return `select json_build_object(
    'definitions', (select coalesce(json_agg(d.id order by d.id), '[]') from "${schema}".workflow_definitions d),
    'runs', (
      select coalesce(json_agg(json_build_object(
        'id', r.id,
        'print', md5(concat(r::text, "${schema}".shown_status(r.id, r.status, r.start_at), held.text, told.text)),
        'stored', json_build_object('openSteps', r.open_steps, 'endsAs', r.ends_as, 'stop', r.stop, 'begun', held.begun)
      ) order by r.id), '[]')
      from "${schema}".workflow_runs r
      cross join lateral (
        select string_agg(s::text, ';' order by s.step) as text, json_agg(s.begun order by s.step) as begun
        from "${schema}".workflow_steps s where s.run_id = r.id
      ) held
      cross join lateral (
        select string_agg(v::text, ';' order by v.step, v.key) as text
        from "${schema}".workflow_values v where v.run_id = r.id
      ) told
    ),
    'queue', (
      select coalesce(json_agg(json_build_object('runId', q.run_id, 'step', q.step, 'availableAt', q.at)), '[]')
      from (
        select run_id, step, extract(epoch from min(available_at)) * 1000 as at
        from "${schema}".workflow_queue_overview group by run_id, step
      ) q
    ),
    'workers', (
      select coalesce(json_agg(json_build_object(
        'workerId', w.id, 'status', w.status, 'leaseExpiresAt', extract(epoch from w.lease_expires_at) * 1000
      )), '[]')
      from "${schema}".workflow_workers w
    ),
    'limits', json_build_object(
      'slots', (
        select coalesce(json_agg(json_build_object(
          'limit', s.limit_name, 'key', s.key, 'runId', s.run_id, 'step', s.step, 'fence', s.fence, 'isGiven', s.is_given, 'since', extract(epoch from s.since) * 1000
        )), '[]')
        from "${schema}".workflow_limit_slots s
      ),
      'waiters', (
        select coalesce(json_agg(json_build_object(
          'limit', w.limit_name, 'key', w.key, 'runId', w.run_id, 'step', w.step, 'fence', w.fence
        )), '[]')
        from "${schema}".workflow_limit_waiters w
      )
    )
  ) as held`
}
