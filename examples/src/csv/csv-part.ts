import { join } from 'node:path'
import type { RunSnapshot } from '@belay/workflow'
import type { Outcome, Part, Players } from '../demonstration/part.ts'
import { currentShowing } from '../demonstration/showing.ts'
import type { Stage } from '../demonstration/stage.ts'
import { Checklist } from '../terminal/checklist.ts'
import { LinesWithoutItems } from '../terminal/lines-without-items.ts'
import { table } from '../terminal/table.ts'
import { importCsv } from './import-csv.ts'
import {
  BAD_LINES,
  countTowns,
  createTownTables,
  dropTownTables,
  readBadRows,
  writeCsv,
} from './towns/index.ts'

/** The lines of the range in which the columns are in another order. */
const STRAY_RANGE_ROWS = 1_000

/** Imports a damaged CSV file twice: once what is good of it, once all or nothing. */
export function csvPart(stage: Stage): Part {
  const workflow = importCsv(stage.database)
  const importer = ({ engine, player }: Players): Importer => ({
    async run(name, badRows) {
      const file = csvFile(stage)
      const run = await engine.run(workflow, { name, file, badRows }, { key: name })
      return player.follow(run, workflow, (screen) => new LinesWithoutItems(screen))
    },
  })
  return { workflow, concurrency: 4, show: (players) => showImports(stage, importer(players)) }
}

interface Importer {
  run(name: string, badRows: 'skip' | 'refuse'): Promise<RunSnapshot>
}

async function showImports(stage: Stage, importer: Importer): Promise<Outcome> {
  const { database, screen } = stage
  const { id, finish } = await currentShowing(database, 'towns', () => dropTownTables(database))
  await createTownTables(database)
  const checklist = new Checklist(screen)
  const rows = await writeCsv(csvFile(stage))
  const [lenient, strict] = [`towns-${id}-a`, `towns-${id}-b`]

  screen.heading(`CSV 1 of 2: ${rows.toLocaleString('en')} rows, some of them bad. The good ones are wanted`)
  const loaded = await importer.run(lenient, 'skip')
  await showBadRows(stage, lenient)
  await checkLoaded(stage, checklist, { run: loaded, name: lenient, rows })

  screen.heading('CSV 2 of 2: the same file. This time all rows are wanted, or none')
  const refused = await importer.run(strict, 'refuse')
  screen.print('')
  await checkRefused(stage, checklist, { run: refused, name: strict })

  return { kept: checklist.allKept, finish }
}

function csvFile({ filesFolder }: Stage): string {
  return join(filesFolder, 'towns.csv')
}

async function showBadRows({ database, screen }: Stage, name: string): Promise<void> {
  screen.print('', ...table(await readBadRows(database, name), screen.size.columns), '')
}

interface Imported {
  readonly run: RunSnapshot
  readonly name: string
}

async function checkLoaded(
  { database, screen }: Stage,
  checklist: Checklist,
  { run, name, rows }: Imported & { readonly rows: number },
): Promise<void> {
  const output = run.steps.find((step) => step.name === 'accept')?.output
  const { failed = [], ...counted } = (output ?? {}) as { readonly failed?: readonly string[] }
  const good = rows - STRAY_RANGE_ROWS - BAD_LINES.length
  screen.print(...failed.map((range) => `  Not loaded: ${range}`), '')
  checklist.check('the run completed, although one range failed', {
    actual: [run.status, failed.length],
    expected: ['completed', 1],
  })
  checklist.check(`${good.toLocaleString('en')} good rows are in the table`, {
    actual: [counted, await countTowns(database, name)],
    expected: [{ loaded: good, bad: BAD_LINES.length }, good],
  })
  checklist.check('each bad row is listed with its line', {
    actual: (await readBadRows(database, name)).map(({ line }) => line),
    expected: BAD_LINES,
  })
}

async function checkRefused(
  { database }: Stage,
  checklist: Checklist,
  { run, name }: Imported,
): Promise<void> {
  const failed = run.cause?.type === 'step_failed' ? run.cause.step : undefined
  checklist.check('the run failed at accept, and was compensated', {
    actual: [run.status, failed],
    expected: ['compensated', 'accept'],
  })
  checklist.check('none of its rows is in the table, and its bad rows are listed all the same', {
    actual: [await countTowns(database, name), (await readBadRows(database, name)).length],
    expected: [0, BAD_LINES.length],
  })
}
