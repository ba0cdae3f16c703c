import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { createEngine, type Engine, type WorkflowDefinition } from '@belay/workflow'
import { type Duration, durationMs } from '@belay/workflow/adapter'
import type { SqlAdapter } from '@belay/workflow-postgres'
import { CliError, misused } from '../cli-error.ts'
import type { FlagsGiven } from '../table/flags.ts'
import { type BelayConfig, findConfig, loadConfig } from './config.ts'
import { placeOf, type Source } from './place.ts'

/** What of the process names a store. */
interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: () => string
}

/** A store that was opened: it never migrates by itself, and claims nothing. */
export interface Store {
  readonly engine: Engine
  readonly adapter: SqlAdapter
  /** Where it is, without a password: `shop at db.internal:5432`. */
  readonly place: string
  /** Where its URL is from: `DATABASE_URL`. */
  readonly source: string
  readonly schema: string
  /** The definitions of the config; empty without one. */
  readonly workflows: readonly WorkflowDefinition[]
  /** The path of the config, if there is one. */
  readonly config: string | undefined
  /** The store’s clock. */
  now(): Promise<Date>
  close(): Promise<void>
}

const TIMEOUT_MS = 10_000

/** Finds the store of a call and makes an engine for it, which connects with the first question. Throws a `CliError` if no store is named. */
export async function openStore(
  flags: FlagsGiven,
  process: Surroundings,
  /** Whether a directory of PGlite that is not there yet is made. */
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<Store> {
  const path = findConfig(process.cwd(), flags.config)
  const config = path === undefined ? {} : await loadConfig(path)
  const { url, from } = sourceOf(flags, process.env, config, path)
  const schema = flags.schema ?? process.env['BELAY_SCHEMA'] ?? config.schema ?? 'belay'
  const workflows = config.workflows ?? []
  // A directory is named from where it was named.
  const folder = from === path ? dirname(path) : process.cwd()
  const adapter = await adapterOf(url, { schema, timeout: flags.timeout, folder, mayCreate })
  const engine = createEngine({ adapter, workflows, logger: false })
  return {
    engine,
    adapter,
    place: placeOf(url),
    source: from,
    schema,
    workflows,
    config: path,
    async now() {
      // PGlite answers nothing before.
      await adapter.open()
      return new Date(await adapter.now())
    },
    close: () => engine.close(),
  }
}

function sourceOf(
  flags: FlagsGiven,
  env: Surroundings['env'],
  config: BelayConfig,
  path: string | undefined,
): Source {
  const sources: readonly (readonly [string | undefined, string])[] = [
    [flags.url, '--url'],
    [env['BELAY_URL'], 'BELAY_URL'],
    [env['DATABASE_URL'], 'DATABASE_URL'],
    [config.url, path ?? 'the config'],
  ]
  const given = sources.find(([url]) => url !== undefined && url !== '')
  if (given !== undefined) return { url: given[0]!, from: given[1] }
  throw misused(
    'No store is named. Give --url, set BELAY_URL or DATABASE_URL, or make a belay.config.ts.',
    'init',
  )
}

async function adapterOf(
  url: string,
  {
    schema,
    timeout,
    folder,
    mayCreate,
  }: {
    readonly schema: string
    readonly timeout: string | undefined
    readonly folder: string
    readonly mayCreate: boolean
  },
): Promise<SqlAdapter> {
  const shared = { schema, autoMigrate: false }
  if (url.startsWith('pglite:')) {
    const directory = directoryOf(url.slice('pglite:'.length), folder)
    if (!mayCreate && !directory.includes('://') && !existsSync(directory)) {
      throw new CliError(`There is no directory ${directory}: it is made by its program, or by migrate.`, {
        status: 3,
        commands: ['migrate'],
      })
    }
    const { pglite } = await import('@belay/workflow-postgres/pglite')
    return pglite(directory, shared)
  }
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw misused('A store is named by postgres://user@host/database, or by pglite:./directory.')
  }
  const { postgres } = await import('@belay/workflow-postgres')
  const queryTimeoutMs = timeout === undefined ? TIMEOUT_MS : durationMs(timeout as Duration, '--timeout')
  return postgres(url, { ...shared, listen: false, connectionsMax: 4, queryTimeoutMs })
}

/** Other places of PGlite, like `memory://`, are no directories. */
function directoryOf(place: string, folder: string): string {
  return place.includes('://') ? place : resolve(folder, place)
}
