import { withClient } from '../../database.ts'
import { drainChain, drainUnder, type FlatBench } from './condition.ts'
import { saveDefinitions } from './history.ts'

// The definitions' tables keep autovacuum: nothing is written to them while runs are drained.
const AUTOVACUUM_OFF = ['workflow_runs', 'workflow_steps', 'workflow_ready', 'workflow_workers']
  .map((table) => `alter table belay.${table} set (autovacuum_enabled = off);`)
  .join('\n')

const ANALYZE_ALL =
  'analyze belay.workflow_runs, belay.workflow_steps, belay.workflow_ready, belay.workflow_workers'

interface Condition {
  readonly name: string
  /** Creates the state of the statistics. Autovacuum is off, so nothing corrects them. */
  prepare(url: string, given: FlatBench): Promise<unknown>
}

const CONDITIONS: readonly Condition[] = [
  { name: 'never analyzed (autovacuum off)', async prepare() {} },
  {
    name: 'analyzed when all tables were empty (autovacuum off)',
    prepare: (url) => analyze(url),
  },
  {
    name: 'analyzed after a drain, when nothing was ready (autovacuum off)',
    async prepare(url, { bench }) {
      await drainChain(bench, url)
      await analyze(url)
    },
  },
]

/** The chain of 3 with missing statistics, or with statistics from the worst moment. */
export async function measureStatistics(given: FlatBench): Promise<void> {
  for (const condition of CONDITIONS) {
    await given.record.attempt(condition.name, () =>
      given.bench.server.freshDatabase(async (url) => {
        await saveDefinitions(url)
        await withClient(url, (client) => client.query(AUTOVACUUM_OFF))
        await condition.prepare(url, given)
        await drainUnder(condition.name, { ...given, url })
      }),
    )
  }
}

function analyze(url: string): Promise<unknown> {
  return withClient(url, (client) => client.query(ANALYZE_ALL))
}
