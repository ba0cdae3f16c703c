import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BelayError } from '@belay/workflow'
import { csvPart } from './csv/csv-part.ts'
import { type Flags, HELP, PARTS, type PartName, readFlags, UsageError } from './demonstration/flags.ts'
import type { Part } from './demonstration/part.ts'
import { perform } from './demonstration/perform.ts'
import type { Stage } from './demonstration/stage.ts'
import { openEmbedded, openPostgres, type Store } from './demonstration/store.ts'
import { importPart } from './import/import-part.ts'
import { mediaPart } from './media/media-part.ts'
import { orderPart } from './order/order-part.ts'
import { Screen } from './terminal/screen.ts'

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))

const OPEN: Readonly<Record<PartName, (stage: Stage) => Part>> = {
  order: orderPart,
  import: importPart,
  csv: csvPart,
  media: mediaPart,
}

process.exitCode = await main(new Screen(process.stdout, process.env))

async function main(screen: Screen): Promise<number> {
  const interrupted = watchInterrupts(screen)
  try {
    const flags = readFlags(process.argv.slice(2), join(REPOSITORY, '.belay', 'database'))
    if (flags.help) screen.print(HELP)
    return flags.help ? 0 : await demonstrate(flags, screen, interrupted)
  } catch (error) {
    if (interrupted.aborted) {
      screen.print('', 'Stopped half-way. Run the same command again to continue from here.')
      return 130
    }
    return printProblem(error)
  }
}

async function demonstrate(flags: Flags, screen: Screen, interrupted: AbortSignal): Promise<number> {
  const store = await openStore(flags)
  try {
    screen.print(`Belay uses ${store.description}.`)
    const { adapter, database } = store
    const filesFolder = join(dirname(flags.folder), 'files')
    const stage = { adapter, database, screen, interrupted, filesFolder, paceMs: flags.paceMs }
    const names = flags.only === undefined ? PARTS : [flags.only]
    const parts = names.map((name) => OPEN[name](stage))
    const kept = await perform(stage, parts)
    screen.print('', kept ? 'Every promise was kept.' : 'Not every promise was kept: see ✘ above.')
    return kept ? 0 : 1
  } finally {
    await store.close()
  }
}

function openStore({ fresh, folder }: Flags): Promise<Store> {
  const url = process.env['DATABASE_URL']
  if (url === undefined || url === '') return openEmbedded(folder, { fresh })
  if (!fresh) return openPostgres(url)
  throw new UsageError(
    '--fresh deletes only the embedded database. On the PostgreSQL of DATABASE_URL, drop the schemas belay, shop, atlas, towns and gallery yourself.',
  )
}

/** The first Ctrl-C stops gracefully, the second one at once. */
function watchInterrupts(screen: Screen): AbortSignal {
  const controller = new AbortController()
  const interrupt = () => {
    if (controller.signal.aborted) process.exit(130)
    screen.print(
      '',
      'Stopping: running steps may end, for up to 5 seconds. Press Ctrl-C again to leave at once.',
    )
    controller.abort()
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  return controller.signal
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
