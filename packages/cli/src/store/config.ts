import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { WorkflowDefinition } from '@belay/workflow'
import { misused } from '../cli-error.ts'

/** What `belay.config.ts` exports as its default. */
export interface BelayConfig {
  /** A PostgreSQL URL, or `pglite:./directory`. The environment and `--url` go first. */
  readonly url?: string | undefined
  /** The schema of Belay’s tables. Default `belay`. */
  readonly schema?: string | undefined
  /** Definitions: with them payloads of signals and inputs are checked, and runs can be moved to another version. */
  readonly workflows?: readonly WorkflowDefinition[] | undefined
}

/** Checks nothing: it only helps editors. */
export function defineConfig(config: BelayConfig): BelayConfig {
  return config
}

/** Any of them is a config. */
export const CONFIG_NAMES = ['belay.config.ts', 'belay.config.mts', 'belay.config.js', 'belay.config.mjs']

/** The config that was named, or the one in this folder or the nearest one above. Undefined if there is none. */
export function findConfig(cwd: string, named: string | undefined): string | undefined {
  if (named !== undefined) {
    const path = resolve(cwd, named)
    if (existsSync(path)) return path
    throw misused(`--config: there is no file ${path}.`)
  }
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = CONFIG_NAMES.map((name) => join(folder, name)).find((path) => existsSync(path))
    if (found !== undefined || dirname(folder) === folder) return found
  }
}

/** Throws a `CliError` for a config that cannot be loaded or says something else. */
export async function loadConfig(path: string): Promise<BelayConfig> {
  const config = await loaded(path)
  if (typeof config !== 'object' || config === null) {
    throw misused(
      `${path} must export an object as its default, like { url: process.env.DATABASE_URL, workflows: [] }.`,
    )
  }
  const { url, schema, workflows } = config as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries({ url, schema })) {
    if (value !== undefined && typeof value !== 'string')
      throw misused(`${path}: \`${name}\` must be a text.`)
  }
  if (workflows !== undefined && !(Array.isArray(workflows) && workflows.every(isDefinition))) {
    throw misused(`${path}: \`workflows\` must be a list of definitions, made by define() or defineGraph().`)
  }
  return config as BelayConfig
}

async function loaded(path: string): Promise<unknown> {
  try {
    const { createJiti } = await import('jiti')
    return await createJiti(pathToFileURL(path).href, { moduleCache: false }).import(path, { default: true })
  } catch (error) {
    throw misused(`${path} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function isDefinition(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'record' in value && 'steps' in value
}
