import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BelayError } from '@belay/workflow'
import { csvPart } from './csv/csv-part.ts'
import { showDashboard } from './dashboard/show-dashboard.ts'
import { type Flags, HELP, PARTS, type PartName, readFlags, UsageError } from './demonstration/flags.ts'
import { Interruption } from './demonstration/interruption.ts'
import type { Part } from './demonstration/part.ts'
import { perform } from './demonstration/perform.ts'
import type { Stage } from './demonstration/stage.ts'
import { openEmbedded, openPostgres, type Store } from './demonstration/store.ts'
import { importPart } from './import/import-part.ts'
import { mediaPart } from './media/media-part.ts'
import { orderPart } from './order/order-part.ts'
import { textsOf } from './terminal/fitting.ts'
import { Keyboard } from './terminal/keyboard.ts'
import { Screen } from './terminal/screen.ts'
import { closingLines, listLines, WAITING } from './tour/closing-page.ts'
import { giveTour } from './tour/tour.ts'
import { NoServerError } from './tour/tour-database.ts'

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))

const OPEN: Readonly<Record<PartName, (stage: Stage) => Part>> = {
  order: orderPart,
  import: importPart,
  csv: csvPart,
  media: mediaPart,
}

interface Audience {
  readonly screen: Screen
  readonly keyboard: Keyboard
  readonly interruption: Interruption
}

process.exitCode = await main(new Screen(process.stdout, process.env))

async function main(screen: Screen): Promise<number> {
  const keyboard = new Keyboard(screen.live && process.stdin.isTTY ? process.stdin : undefined)
  const interruption = new Interruption(screen, keyboard)
  try {
    const flags = readFlags(process.argv.slice(2), join(REPOSITORY, '.belay', 'database'))
    const told = tell(flags, screen)
    if (told !== undefined) return told
    interruption.watch()
    return await show(flags, { screen, keyboard, interruption })
  } catch (error) {
    screen.leavePage()
    if (!interruption.signal.aborted) return printProblem(error)
    // What the tour leaves nothing of cannot be continued.
    screen.print('', 'Stopped.', ...interruption.advice)
    return interruption.exitCode
  } finally {
    screen.leavePage()
    keyboard.close()
  }
}

/** Prints what needs no database. Returns the exit code, or undefined if a database is needed. */
function tell({ help, list, show }: Flags, screen: Screen): number | undefined {
  if (help) screen.print(HELP)
  else if (list) screen.print(...listLines(screen.colours))
  else if (show === 'waiting') screen.print(...WAITING)
  else return undefined
  return 0
}

async function show(flags: Flags, audience: Audience): Promise<number> {
  const { screen, keyboard, interruption } = audience
  if (flags.show === 'dashboard') {
    await showDashboard((line) => screen.print(line), interruption.signal)
    return 0
  }
  if (flags.show !== 'tour') return showParts(flags, audience)
  const url = databaseUrl(flags)
  try {
    const { paceMs, sql } = flags
    const kept = await giveTour({ screen, keyboard, interrupted: interruption.signal, url, paceMs, sql })
    return kept ? 0 : 1
  } catch (error) {
    if (!(error instanceof NoServerError) || interruption.signal.aborted) throw error
    screen.print(
      '',
      `A PostgreSQL server cannot be started here (${error.message}). So one process shows the orders, on PGlite: nobody could take over from it, and nobody kills it. With DATABASE_URL=postgres://… you see two processes on your own server.`,
    )
    const code = await showParts({ ...flags, show: 'order' }, audience)
    screen.print('', ...textsOf(closingLines(screen.colours)))
    return code
  }
}

async function showParts(flags: Flags, { screen, interruption }: Audience): Promise<number> {
  const store = await openStore(flags)
  try {
    interruption.advise('Run the same command again to continue from here.')
    screen.print(`Belay uses ${store.description}.`)
    const { adapter, database } = store
    const { folder, paceMs, sql } = flags
    const filesFolder = join(dirname(folder), 'files')
    const stage = { adapter, database, screen, interrupted: interruption.signal, filesFolder, paceMs, sql }
    const parts = PARTS.filter((name) => flags.show === 'all' || flags.show === name)
    const kept = await perform(
      stage,
      parts.map((name) => OPEN[name](stage)),
    )
    screen.print('', kept ? 'Every promise was kept.' : 'Not every promise was kept: see ✘ above.')
    return kept ? 0 : 1
  } finally {
    await store.close()
  }
}

function openStore(flags: Flags): Promise<Store> {
  const url = databaseUrl(flags)
  return url === undefined ? openEmbedded(flags.folder, flags) : openPostgres(url)
}

function databaseUrl({ fresh }: Flags): string | undefined {
  const url = process.env['DATABASE_URL']
  if (url === undefined || url === '') return undefined
  if (!fresh) return url
  throw new UsageError(
    '--fresh deletes only the embedded database. On the PostgreSQL of DATABASE_URL, drop the schemas belay, shop, atlas, towns and gallery yourself.',
  )
}

/** Prints what is wrong; a stack only for unexpected errors. Returns the exit code. */
function printProblem(error: unknown): number {
  if (error instanceof UsageError) {
    console.error(`${error.message}\nTry --help.`)
    return 2
  }
  console.error(BelayError.is(error) ? error.message : error)
  return 1
}
