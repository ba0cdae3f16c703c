import { createEngine, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type pg from 'pg'
import type { Bench } from '../../bench.ts'
import { withClient } from '../../database.ts'
import type { Recorder } from '../section.ts'

const TIMES = 20
const LIMIT = 50
// Even a query that reads the whole history must end.
const TIMEOUT_MS = 60_000
// After this time no further answers are measured: the existing ones are enough.
const BUDGET_MS = 120_000

/** A run of the history to query. */
interface Known {
  readonly id: string
  readonly key: string
  readonly workflow: string
}

interface Question {
  readonly name: string
  ask(known: Known): Promise<unknown>
}

/** The queries of dashboards, through the engine and in SQL, twenty times each. */
export async function measureDashboards(
  url: string,
  { bench, record }: { bench: Bench; record: Recorder },
): Promise<void> {
  const adapter = postgres(url, { connectionsMax: 2, listen: false, queryTimeoutMs: TIMEOUT_MS })
  const engine = createEngine({ adapter })
  try {
    await withClient(url, async (client) => {
      await client.query(`set statement_timeout = ${TIMEOUT_MS}`)
      const known = await knownRuns(client, bench.historyRuns)
      for (const question of [...throughEngine(engine), ...inSql(client)]) {
        await measureQuestion(question, known, record)
      }
    })
  } finally {
    await engine.close()
  }
}

async function measureQuestion(question: Question, known: readonly Known[], record: Recorder): Promise<void> {
  const endsAt = performance.now() + BUDGET_MS
  for (let n = 0; n < TIMES && performance.now() < endsAt; n += 1) {
    const since = performance.now()
    try {
      await question.ask(known[n % known.length]!)
    } catch (error) {
      record.note(`Dashboards: ${question.name} failed: ${error instanceof Error ? error.message : error}`)
      return
    }
    const value = performance.now() - since
    record.add(`dashboards: ${question.name}, ${TIMES} times`, { unit: 'ms', value })
  }
}

async function knownRuns(client: pg.Client, historyRuns: number): Promise<readonly Known[]> {
  const numbers = Array.from({ length: TIMES }, () => 1 + Math.floor(Math.random() * historyRuns))
  const { rows } = await client.query<Known>(
    `select r.id, r.key, r.workflow
     from belay.workflow_definitions d
     cross join unnest($1::bigint[]) n
     join belay.workflow_runs r on r.workflow = d.name and r.key = 'order:' || n`,
    [numbers],
  )
  if (rows.length === 0) throw new Error('The history has no run to query.')
  return rows
}

function throughEngine(engine: Engine): readonly Question[] {
  const { runs } = engine
  const limit = LIMIT
  return [
    { name: 'newest runs (engine)', ask: () => runs.list({ limit }) },
    { name: 'newest failed (engine)', ask: () => runs.list({ status: 'failed', limit }) },
    { name: 'a status that no run has (engine)', ask: () => runs.list({ status: 'paused', limit }) },
    {
      name: 'by workflow and status (engine)',
      ask: ({ workflow }) => runs.list({ workflow, status: 'failed', limit }),
    },
    { name: 'by workflow and key (engine)', ask: ({ workflow, key }) => runs.list({ workflow, key }) },
    { name: 'by key alone (engine)', ask: ({ key }) => runs.list({ key }) },
    { name: 'one run with its steps (engine)', ask: ({ id }) => runs.get(id) },
    {
      name: 'newest runs with the states of their steps (engine)',
      ask: () => runs.list({ steps: true, limit }),
    },
    {
      name: 'by the first 12 digits of an id (engine)',
      ask: ({ id }) => runs.list({ idPrefix: id.slice(0, 13) }),
    },
    { name: 'the page before a run (engine)', ask: ({ id }) => runs.list({ after: id, limit }) },
    { name: 'what waits in the store (engine)', ask: () => engine.queue() },
    { name: 'workflows with their live runs (engine)', ask: () => engine.workflows.list() },
    { name: 'doctor (engine)', ask: () => engine.doctor() },
  ]
}

const RUNS = 'belay.workflow_runs'
const OVERVIEW = 'belay.workflow_run_overview'
const THIS_MONTH = `status = 'failed' and finished_at >= date_trunc('month', now())`

/** The same on the table, and on the view for people. */
function inSql(client: pg.Client): readonly Question[] {
  const question = (name: string, text: string, values: (known: Known) => readonly string[] = () => []) => ({
    name: `${name} (SQL)`,
    ask: (known: Known) => client.query(text, [...values(known)]),
  })
  const onRuns = [
    { relation: RUNS, id: 'id', where: 'table' },
    { relation: OVERVIEW, id: 'run_id', where: 'view' },
  ].flatMap(({ relation, id, where }) => {
    const select = `select * from ${relation}`
    return [
      question(`newest runs, ${where}`, `${select} order by ${id} desc limit ${LIMIT}`),
      question(
        `failed this month, ${where}`,
        `${select} where ${THIS_MONTH} order by finished_at desc limit ${LIMIT}`,
      ),
      question(
        `by workflow and status, ${where}`,
        `${select} where workflow = $1 and status = 'failed' order by ${id} desc limit ${LIMIT}`,
        ({ workflow }) => [workflow],
      ),
      question(
        `by workflow and key, ${where}`,
        `${select} where workflow = $1 and key = $2`,
        ({ workflow, key }) => [workflow, key],
      ),
    ]
  })
  return [
    ...onRuns,
    question(
      'one run with its steps, view',
      'select * from belay.workflow_step_overview where run_id = $1 order by step',
      ({ id }) => [id],
    ),
  ]
}
