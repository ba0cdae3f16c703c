import { dequal } from 'dequal'
import type { Adapter, NewRun, SavedDefinition, StartedRun } from '../adapter/index.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import { BelayError } from '../errors.ts'
import { didYouMean } from '../graph/index.ts'
import type { DefinitionRegistry } from './definition-registry.ts'
import { checkKey } from './key.ts'
import type { EngineSettings } from './options.ts'
import { fromJsonText, toJsonText } from './payload.ts'
import type { PayloadCache } from './payload-cache.ts'
import type { RunStarter } from './run-starter.ts'
import { checkStartTimes, type StartTimes } from './start-times.ts'

export interface RunOptions extends StartTimes {
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
  runs: readonly (RunOptions & { readonly input?: unknown })[],
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
  const times = checkStartTimes(options, workflow.deadlineMs)
  const valid = await workflow.validate(input)
  const text = toJsonText(valid, settings.payloadMaxBytes, () => ({
    what: `Input of workflow "${workflow.name}"`,
  }))
  await adapter.open()
  const definition = await registry.save(workflow)
  const runId = settings.runtime.newId()
  return {
    run: { runId, definitionId: definition.id, workflow: workflow.name, key, input: text, ...times },
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

const RUN_OPTION_NAMES: readonly string[] = ['key', 'startAt', 'delay', 'deadline']

function checkRunOptions(options: RunOptions): string | null {
  for (const name of Object.keys(options)) {
    if (RUN_OPTION_NAMES.includes(name)) continue
    throw new BelayError(
      'invalid_option',
      `A run has no option "${name}".${didYouMean(name, RUN_OPTION_NAMES)} It takes ${RUN_OPTION_NAMES.join(', ')}.`,
    )
  }
  const { key } = options
  if (key === undefined) return null
  checkKey("A run's key", key)
  return key
}

function assertSameInput({ workflow, key, input }: NewRun, existing: StartedRun): void {
  if (existing.input === input || dequal(fromJsonText(existing.input), fromJsonText(input))) return
  throw new BelayError(
    'key_conflict',
    `Key ${JSON.stringify(key)} of workflow "${workflow}" belongs to run ${existing.runId}, which was started with another input. Use a key that names this input's event, or get that run with engine.runs.handle().`,
    { runId: existing.runId },
  )
}
