import { dequal } from 'dequal'
import type { Adapter, NewRun, SavedDefinition, StartedRun } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import type { DefinitionRegistry } from './definition-registry.ts'
import type { EngineSettings } from './options.ts'
import { fromJsonText, toJsonText } from './payload.ts'
import type { PayloadCache } from './payload-cache.ts'
import type { RunStarter } from './run-starter.ts'

const KEY_MAX_CHARS = 512

export interface RunOptions {
  /** Names the business event that this run belongs to, like `order:9182`; 1 to 512 characters, unique per workflow. */
  readonly key?: string | undefined
}

export interface StartRunParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly payloads: PayloadCache
  readonly starter: RunStarter
  readonly settings: Pick<EngineSettings, 'payloadMaxBytes' | 'runtime'>
}

/** A run that was checked and can be stored. */
interface PreparedRun {
  readonly run: NewRun
  readonly definition: SavedDefinition
}

export interface StartedHandle {
  readonly id: string
  readonly created: boolean
  readonly definition: SavedDefinition
}

/** Checks everything that can be checked, then stores the run in one commit. */
export async function startRun(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  input: unknown,
  options: RunOptions,
): Promise<StartedHandle> {
  return storeRun(parts, await prepareRun(parts, workflow, input, options))
}

/** Checks all runs before it stores the first. Results are in order. */
export async function startRuns(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  runs: readonly { readonly input?: unknown; readonly key?: string | undefined }[],
): Promise<readonly StartedHandle[]> {
  const prepared = await Promise.all(
    runs.map(({ input, ...options }) => prepareRun(parts, workflow, input, options)),
  )
  const stored = await Promise.allSettled(prepared.map((run) => storeRun(parts, run)))
  return stored.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

async function prepareRun(
  { adapter, registry, settings }: StartRunParts,
  workflow: WorkflowDefinition,
  input: unknown,
  options: RunOptions,
): Promise<PreparedRun> {
  checkWorkflow(workflow)
  const key = checkRunOptions(options)
  const valid = await workflow.validate(input)
  const text = toJsonText(valid, settings.payloadMaxBytes, () => ({
    what: `Input of workflow "${workflow.name}"`,
  }))
  await adapter.open()
  const definition = await registry.save(workflow)
  const runId = settings.runtime.newId()
  return {
    run: { runId, definitionId: definition.id, workflow: workflow.name, key, input: text },
    definition,
  }
}

async function storeRun(parts: StartRunParts, { run, definition }: PreparedRun): Promise<StartedHandle> {
  const stored = await parts.starter.start(run)
  if (stored.created) parts.payloads.rememberInput(run.runId, run.input)
  else assertSameInput(run, stored)
  return { id: stored.runId, created: stored.created, definition }
}

function checkWorkflow(workflow: WorkflowDefinition): void {
  if (typeof workflow?.record?.checksum === 'string') return
  throw new BelayError(
    'unknown_workflow',
    `A run is started with a definition made by define() or defineGraph(), got ${typeof workflow === 'string' ? JSON.stringify(workflow) : typeof workflow}.`,
  )
}

function checkRunOptions(options: RunOptions): string | null {
  for (const name of Object.keys(options)) {
    if (name !== 'key') throw new BelayError('invalid_option', `A run has no option "${name}". It takes key.`)
  }
  const { key } = options
  if (key === undefined) return null
  // NUL is the one character PostgreSQL's text cannot hold.
  if (typeof key === 'string' && key.length >= 1 && key.length <= KEY_MAX_CHARS && !key.includes('\0'))
    return key
  throw new BelayError(
    'invalid_option',
    `A run's key must be a text of 1 to ${KEY_MAX_CHARS} characters without NUL; got ${typeof key === 'string' ? `${key.length} characters` : typeof key}.`,
  )
}

function assertSameInput({ workflow, key, input }: NewRun, existing: StartedRun): void {
  if (existing.input === input || dequal(fromJsonText(existing.input), fromJsonText(input))) return
  throw new BelayError(
    'key_conflict',
    `Key ${JSON.stringify(key)} of workflow "${workflow}" belongs to run ${existing.runId}, which was started with another input. Use a key that names this input's event, or get that run with engine.runs.handle().`,
    { runId: existing.runId },
  )
}
