import { createEngine, type Engine } from '@belay/workflow'
import { postgres } from '@belay/workflow-postgres'
import type pg from 'pg'
import type { Bench } from '../../bench.ts'
import { withClient } from '../../database.ts'
import { median } from '../../report/figures.ts'
import type { Recorder } from '../section.ts'

const TIMES = 20
const LIMIT = 50
// A question that reads all the history must end too.
const TIMEOUT_MS = 60_000
/** After this long no further answer is waited for: the ones there are tell enough. */
const BUDGET_MS = 120_000

/** A run of the history to ask for. */
interface Known {
  readonly id: string
  readonly key: string
  readonly workflow: string
}

interface Question {
  readonly name: string
  ask(known: Known): Promise<unknown>
}

/** What dashboards ask, through the engine and in SQL. Records the median and the slowest answer of twenty. */
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
  const took: number[] = []
  const endsAt = performance.now() + BUDGET_MS
  for (let n = 0; n < TIMES && performance.now() < endsAt; n += 1) {
    const since = performance.now()
    try {
      await question.ask(known[n % known.length]!)
    } catch (error) {
      record.note(`Dashboards: ${question.name} failed: ${error instanceof Error ? error.message : error}`)
      return
    }
    took.push(performance.now() - since)
  }
  record.add(`dashboards: ${question.name}: median of ${took.length}`, { unit: 'ms', value: median(took) })
  record.add(`dashboards: ${question.name}: slowest`, { unit: 'ms', value: Math.max(...took) })
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
  if (rows.length === 0) throw new Error('The history has no run to ask for.')
  return rows
}

function throughEngine({ runs }: Engine): readonly Question[] {
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
  ]
}

const OVERVIEW = 'select * from belay.workflow_run_overview'

function inSql(client: pg.Client): readonly Question[] {
  const question = (name: string, text: string, values: (known: Known) => readonly string[] = () => []) => ({
    name: `${name} (SQL)`,
    ask: (known: Known) => client.query(text, [...values(known)]),
  })
  return [
    question('newest runs', `${OVERVIEW} order by run_id desc limit ${LIMIT}`),
    question(
      'failed this month',
      `${OVERVIEW} where status = 'failed' and finished_at >= date_trunc('month', now()) order by finished_at desc limit ${LIMIT}`,
    ),
    question(
      'how many failed this month',
      `select count(*) from belay.workflow_runs where status = 'failed' and finished_at >= date_trunc('month', now())`,
    ),
    question(
      'by workflow and status',
      `${OVERVIEW} where workflow = $1 and status = 'failed' order by run_id desc limit ${LIMIT}`,
      ({ workflow }) => [workflow],
    ),
    question('by workflow and key', `${OVERVIEW} where workflow = $1 and key = $2`, ({ workflow, key }) => [
      workflow,
      key,
    ]),
    question(
      'one run with its steps',
      'select * from belay.workflow_step_overview where run_id = $1 order by step',
      ({ id }) => [id],
    ),
  ]
}
