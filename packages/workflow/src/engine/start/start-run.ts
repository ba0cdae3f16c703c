import { dequal } from 'dequal'
import pLimit from 'p-limit'
import type {
  Adapter,
  CallerTransaction,
  JsonText,
  NewRun,
  SavedDefinition,
  StartedRun,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import {
  anything,
  checkArgument,
  checkOptions,
  type Kind,
  key,
  type OptionTable,
  Refusal,
  type SettingsOf,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { hasChildren } from '../base/child-steps.ts'
import { checkDefinition } from '../base/definition-argument.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { fromJsonText, toJsonText } from '../base/payload.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import { tags } from '../base/tags.ts'
import { inputHash } from './input-hash.ts'
import { type RunStarter, STARTS_MAX, type Start } from './run-starter.ts'
import { START_TIMES, type StartTimes, startTimes } from './start-times.ts'

export interface RunOptions extends StartTimes {
  /** The business event that this run belongs to, like `order:9182`; 1 to 512 characters, unique per workflow. */
  readonly key?: string | undefined
  /**
   * Labels to find the run by, like `['tenant:7']`: up to 20 different strings of 1 to 200 characters. If the key belongs to an earlier run, that
   * run's tags do not change.
   */
  readonly tags?: readonly string[] | undefined
  /**
   * The caller's open transaction on the engine's database: the run exists once it commits. Adapters define what they accept; all accept the `tx` of
   * a transactional handler. Await `result()` only after the commit.
   */
  readonly tx?: CallerTransaction | undefined
}

export interface StartRunParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly payloads: PayloadCache
  readonly starter: RunStarter
  readonly settings: CallSettings
}

/** A checked run, ready to be stored. */
interface CheckedRun extends CheckedOptions {
  readonly input: JsonText
  readonly inputHash: string | null
}

type CheckedOptions = Pick<NewRun, 'key' | 'tags' | 'startAt' | 'startDelayMs' | 'deadlineMs'>

const NEW_RUNS: Kind<readonly unknown[]> = {
  words: 'an array with an object for each run',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
}

const OF_MANY = {
  key: { sets: 'the business event that the run belongs to', takes: key },
  tags: { sets: 'the labels to find the run by', takes: tags },
  ...START_TIMES,
} satisfies OptionTable

const WITH_INPUT = { input: { sets: "the run's input", takes: anything }, ...OF_MANY } satisfies OptionTable

/** Options of a run that is started alone. */
export const RUN_OPTIONS = {
  ...OF_MANY,
  tx: { sets: 'the transaction that the start is part of', takes: anything },
} satisfies OptionTable

function checkedOptions(
  call: string,
  { deadlineMs }: Pick<WorkflowDefinition, 'deadlineMs'>,
  { key, tags, ...times }: SettingsOf<typeof OF_MANY>,
): CheckedOptions {
  // No tags are stored as no value.
  const stored = tags?.length === 0 ? undefined : tags
  return { key: key ?? null, tags: stored, ...startTimes(call, times, deadlineMs) }
}

export interface StartedHandle {
  readonly id: string
  readonly created: boolean
  /** The definition that the caller gave. */
  readonly definition: SavedDefinition
  /** The run's version. It may differ from the given definition's if the key belonged to an earlier run. */
  readonly version: number
  /** This process's worker took all the run's first steps: no other worker needs a hint. */
  readonly taken: boolean
}

/** How many batches of `runMany()` are prepared at once: one more than there are concurrent calls, so that a call never waits for a batch. */
const BATCHES_AHEAD = 4

/** Checks everything that can be checked, then stores the run in one commit. */
export async function startRun(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  input: unknown,
  options: RunOptions,
): Promise<StartedHandle> {
  checkDefinition('run()', workflow)
  const { tx, ...own } = checkOptions('run()', options, RUN_OPTIONS)
  const checked = await checkRun(parts, workflow, input, checkedOptions('run()', workflow, own))
  return storeRun(parts, await storedDefinition(parts, workflow, tx), checked, tx)
}

/** The same with a definition known only from the store, which has neither its schema nor its deadline: the input is not checked. */
export async function startUnchecked(
  parts: StartRunParts,
  definition: SavedDefinition,
  input: unknown,
  options: RunOptions,
): Promise<StartedHandle> {
  const believing = { name: definition.name, deadlineMs: null, validate: (given: unknown) => given }
  const { tx, ...own } = checkOptions('run()', options, RUN_OPTIONS)
  const run = await checkRun(parts, believing, input, checkedOptions('run()', believing, own))
  return storeRun(parts, definition, run, tx)
}

/** Checks a run that somebody else stores. Without the workflow, whose schema and deadline it then lacks, its input is not checked. */
export async function preparedRun(
  parts: Pick<StartRunParts, 'settings'>,
  of: { readonly definition: SavedDefinition; readonly workflow: WorkflowDefinition | undefined },
  input: unknown,
  options: Pick<CheckedOptions, 'key' | 'tags'>,
): Promise<NewRun> {
  const { definition, workflow } = of
  const believing = workflow ?? { name: definition.name, validate: (given: unknown) => given }
  const deadlineMs = workflow?.deadlineMs ?? undefined
  return newRun(parts, definition, await checkRun(parts, believing, input, { ...options, deadlineMs }))
}

async function storeRun(
  parts: StartRunParts,
  definition: SavedDefinition,
  checked: CheckedRun,
  tx: unknown,
): Promise<StartedHandle> {
  const run = newRun(parts, definition, checked)
  if (tx !== undefined) return (await startWithin(parts, definition, [run], tx))[0]!
  return startedHandle(parts, definition, run, await parts.starter.start(run))
}

/**
 * Checks all runs before it stores the first. Results are in order. Calls `onStarted` for each run as soon as it is stored. A refused run does not
 * stop the others.
 */
export async function startRuns<Result>(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  runs: readonly (RunOptions & { readonly input?: unknown })[],
  onStarted: (started: StartedHandle, index: number) => Result,
  tx?: unknown,
): Promise<readonly Result[]> {
  checkDefinition('runMany()', workflow)
  const checked = await checkRuns(parts, workflow, runs)
  const definition = await storedDefinition(parts, workflow, tx)
  if (tx !== undefined) {
    const all = checked.map((run) => newRun(parts, definition, run))
    return (await startWithin(parts, definition, all, tx)).map(onStarted)
  }
  const results = new Array<Result>(runs.length)
  let refused: { readonly error: unknown } | undefined
  const startBatch = async (first: number) => {
    const batch = checked.slice(first, first + STARTS_MAX).map((run) => newRun(parts, definition, run))
    const starts = await parts.starter.startMany(batch)
    batch.forEach((run, index) => {
      try {
        const started = startedHandle(parts, definition, run, storedOf(starts[index]!))
        results[first + index] = onStarted(started, first + index)
      } catch (error) {
        refused ??= { error }
      }
    })
  }
  const firsts = Array.from({ length: Math.ceil(checked.length / STARTS_MAX) }, (_, n) => n * STARTS_MAX)
  await pLimit(BATCHES_AHEAD).map(firsts, startBatch)
  if (refused !== undefined) throw refused.error
  return results
}

async function storedDefinition(
  { adapter, registry }: StartRunParts,
  workflow: WorkflowDefinition,
  tx: unknown,
): Promise<SavedDefinition> {
  // Within a transaction the adapter opens itself: open() could need a connection while callers' transactions hold all of them.
  if (tx === undefined) await adapter.open()
  return registry.save(workflow, tx)
}

/**
 * Starts runs inside the caller's transaction. Never repeated: after a lost answer, only the caller can find out the state of its transaction.
 * Caches nothing, because the transaction may be rolled back.
 */
async function startWithin(
  { adapter }: StartRunParts,
  definition: SavedDefinition,
  runs: readonly NewRun[],
  tx: unknown,
): Promise<readonly StartedHandle[]> {
  const started: StartedHandle[] = []
  for (let first = 0; first < runs.length; first += STARTS_MAX) {
    const batch = runs.slice(first, first + STARTS_MAX)
    const stored = await adapter.startRuns(batch, { tx })
    batch.forEach((run, index) => {
      const found = stored[index]!
      if (!found.created) assertSameInput(run, found)
      const { runId: id, created } = found
      started.push({ id, created, definition, version: versionOf(found, definition), taken: false })
    })
  }
  return started
}

function storedOf(start: Start): StartedRun {
  if (start.refused) throw start.error
  return start
}

/** Awaits only asynchronous schemas: for a hundred thousand runs, promises would cost more than everything else. */
async function checkRuns(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  runs: readonly (RunOptions & { readonly input?: unknown })[],
): Promise<readonly CheckedRun[]> {
  // Check all options before calling the first schema, so that a thrown error never leaves a pending promise behind.
  const given = checkArgument('runMany()', 'the runs', runs, NEW_RUNS)
  const options = given.map((run, index) => {
    const call = `runMany(): run ${index}`
    const { input, ...own } = checkOptions(call, run, WITH_INPUT)
    return { input, own: checkedOptions(call, workflow, own) }
  })
  const checked = options.map(({ input, own }) => checkRun(parts, workflow, input, own))
  return checked.some((run) => run instanceof Promise) ? Promise.all(checked) : (checked as CheckedRun[])
}

function checkRun(
  { settings }: Pick<StartRunParts, 'settings'>,
  workflow: Pick<WorkflowDefinition, 'name' | 'validate'>,
  input: unknown,
  options: CheckedOptions,
): CheckedRun | Promise<CheckedRun> {
  const hash = options.key === null ? null : inputHash(input)
  const stored = (valid: unknown): CheckedRun => {
    const owner = () => ({ what: `Input of workflow "${workflow.name}"` })
    return { ...options, input: toJsonText(valid, settings.payloadMaxBytes, owner), inputHash: hash }
  }
  const valid = workflow.validate(input)
  // Without a schema the input itself comes back. If it is a promise, it is an invalid input and must not be awaited.
  return valid !== input && valid instanceof Promise ? valid.then(stored) : stored(valid)
}

function newRun(
  { settings }: Pick<StartRunParts, 'settings'>,
  definition: SavedDefinition,
  checked: CheckedRun,
): NewRun {
  const runId = settings.runtime.newId()
  const run = { runId, definitionId: definition.id, workflow: definition.name, ...checked }
  // What follows from its end must follow: its end steps, and the cancellation of children that outlive it.
  const reports = definition.shape.endSteps || hasChildren(definition.shape)
  return reports ? { ...run, reportsEnd: true } : run
}

function startedHandle(
  { payloads }: StartRunParts,
  definition: SavedDefinition,
  run: NewRun,
  stored: StartedRun,
): StartedHandle {
  if (stored.created) payloads.rememberInput(run.runId, run.input)
  else assertSameInput(run, stored)
  // A run with a deadline always needs a hint: the deadline may be near.
  const taken = (stored.claims ?? []).length > 0 && run.deadlineMs === undefined
  const { runId: id, created } = stored
  return { id, created, definition, version: versionOf(stored, definition), taken }
}

function versionOf(stored: StartedRun, { version }: SavedDefinition): number {
  return stored.version ?? version
}

/**
 * Compares the given inputs, then the stored ones. A schema may return a new value for the same input each time, or the same value for different
 * inputs.
 */
function assertSameInput({ workflow, key, input, inputHash: hash }: NewRun, existing: StartedRun): void {
  if (hash != null && existing.inputHash === hash) return
  if (existing.input === input || dequal(fromJsonText(existing.input), fromJsonText(input))) return
  throw new BelayError(
    'key_conflict',
    `Key ${shown(key)} of workflow "${workflow}" belongs to run ${existing.runId}, which was started with another input. Use a key that names this input's event, or get that run with engine.runs.handle().`,
    { runId: existing.runId },
  )
}
