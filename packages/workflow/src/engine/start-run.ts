import { dequal } from 'dequal'
import type { Adapter, SavedDefinition, StartedRun } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import type { DefinitionRegistry } from './definition-registry.ts'
import type { EngineSettings } from './options.ts'
import { fromJsonText, toJsonText } from './payload.ts'
import type { PayloadCache } from './payload-cache.ts'

const KEY_MAX_CHARS = 512

export interface RunOptions {
  /** Names the business event that this run belongs to, like `order:9182`; 1 to 512 characters, unique per workflow. */
  readonly key?: string | undefined
}

export interface StartRunParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly payloads: PayloadCache
  readonly settings: Pick<EngineSettings, 'payloadMaxBytes' | 'runtime'>
}

/** Checks everything that can be checked, then stores the run in one commit. */
export async function startRun(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  input: unknown,
  options: RunOptions,
): Promise<{ readonly id: string; readonly created: boolean; readonly definition: SavedDefinition }> {
  checkWorkflow(workflow)
  const key = checkRunOptions(options)
  const valid = await workflow.validate(input)
  const text = toJsonText(valid, parts.settings.payloadMaxBytes, () => ({
    what: `Input of workflow "${workflow.name}"`,
  }))
  await parts.adapter.open()
  const definition = await parts.registry.save(workflow)
  const runId = parts.settings.runtime.newId()
  const [run] = await parts.adapter.startRuns([
    { runId, definitionId: definition.id, workflow: workflow.name, key, input: text },
  ])
  if (run!.created) parts.payloads.rememberInput(runId, text)
  else assertSameInput(workflow, key, run!, text)
  return { id: run!.runId, created: run!.created, definition }
}

function checkWorkflow(workflow: WorkflowDefinition): void {
  if (typeof workflow?.record?.checksum === 'string') return
  throw new BelayError(
    'unknown_workflow',
    `run() takes a definition made by define() or defineGraph(), got ${typeof workflow === 'string' ? JSON.stringify(workflow) : typeof workflow}.`,
  )
}

function checkRunOptions(options: RunOptions): string | null {
  for (const name of Object.keys(options)) {
    if (name !== 'key') throw new BelayError('invalid_option', `run() has no option "${name}". It takes key.`)
  }
  const { key } = options
  if (key === undefined) return null
  // NUL is the one character PostgreSQL's text cannot hold.
  if (typeof key === 'string' && key.length >= 1 && key.length <= KEY_MAX_CHARS && !key.includes('\0'))
    return key
  throw new BelayError(
    'invalid_option',
    `run(): key must be a text of 1 to ${KEY_MAX_CHARS} characters without NUL; got ${typeof key === 'string' ? `${key.length} characters` : typeof key}.`,
  )
}

function assertSameInput(
  workflow: WorkflowDefinition,
  key: string | null,
  existing: StartedRun,
  input: string | null,
): void {
  if (existing.input === input || dequal(fromJsonText(existing.input), fromJsonText(input))) return
  throw new BelayError(
    'key_conflict',
    `Key ${JSON.stringify(key)} of workflow "${workflow.name}" belongs to run ${existing.runId}, which was started with another input. Use a key that names this input's event, or get that run with engine.runs.handle().`,
    { runId: existing.runId },
  )
}
