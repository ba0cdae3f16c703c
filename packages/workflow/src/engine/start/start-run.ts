import { dequal } from 'dequal'
import pLimit from 'p-limit'
import type { Adapter, JsonText, NewRun, SavedDefinition, StartedRun } from '../../adapter/index.ts'
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
import { checkDefinition } from '../base/definition-argument.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { fromJsonText, toJsonText } from '../base/payload.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import { tags } from '../base/tags.ts'
import { inputHash } from './input-hash.ts'
import { type RunStarter, STARTS_MAX, type Start } from './run-starter.ts'
import { START_TIMES, type StartTimes, startTimes } from './start-times.ts'

export interface RunOptions extends StartTimes {
  /** Names the business event that this run belongs to, like `order:9182`; 1 to 512 characters, unique per workflow. */
  readonly key?: string | undefined
  /**
   * What the run can be found by, like `['tenant:7']`: up to 20 texts of 1 to 200 characters, each once. A start that finds its key taken
   * leaves the tags of that run as they are.
   */
  readonly tags?: readonly string[] | undefined
  /**
   * An open transaction of the caller's on the engine's database: the run is there once it commits, and never if it is rolled back.
   * A `pg` client, a drizzle transaction, a PGlite transaction, or the `tx` of a transactional handler. Wait for `result()` after the commit.
   */
  readonly tx?: unknown
}

export interface StartRunParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly payloads: PayloadCache
  readonly starter: RunStarter
  readonly settings: CallSettings
}

/** A run that was checked and can be stored. */
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
  tags: { sets: 'what the run can be found by', takes: tags },
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
  // A run with no tags has none to store.
  const stored = tags?.length === 0 ? undefined : tags
  return { key: key ?? null, tags: stored, ...startTimes(call, times, deadlineMs) }
}

export interface StartedHandle {
  readonly id: string
  readonly created: boolean
  /** The definition that it was to be started with. */
  readonly definition: SavedDefinition
  /** The version that it follows: another one, perhaps, of a run that has the key already. */
  readonly version: number
  /** This process's worker has taken on what there is to do at first, and no other needs to be told. */
  readonly taken: boolean
}

/** Batches of `runMany()` that are made ready for the store at once: one more than it takes, so that it never waits for the next. */
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

/**
 * The same with a definition that this process has from the store only: neither schema nor deadline of it are known here. A store that keeps
 * schemas in a form that every process can check would be asked here.
 */
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
 * Checks all runs before it stores the first. Results are in order; `onStarted` is called for each as soon as it is stored. When one is
 * refused, those that follow it are started all the same.
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
  // Within a transaction the adapter sees to it itself: opening it could take a connection that the callers of such transactions all hold.
  if (tx === undefined) await adapter.open()
  return registry.save(workflow, tx)
}

/**
 * Starts runs inside the caller's transaction. Never repeated: what a lost answer means for the transaction is the caller's to find out.
 * Nothing of them is remembered here either, since they may never come to be.
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

/** Awaits only schemas that must be awaited: of a hundred thousand runs, promises would cost more than all the rest. */
async function checkRuns(
  parts: StartRunParts,
  workflow: WorkflowDefinition,
  runs: readonly (RunOptions & { readonly input?: unknown })[],
): Promise<readonly CheckedRun[]> {
  // All options before the first schema is asked: a promise must not be left behind by what throws next to it.
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
  { settings }: StartRunParts,
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
  // What comes back as it was given is no answer to wait for, even where it is a promise: nothing was asked.
  return valid !== input && valid instanceof Promise ? valid.then(stored) : stored(valid)
}

function newRun({ settings }: StartRunParts, definition: SavedDefinition, checked: CheckedRun): NewRun {
  const runId = settings.runtime.newId()
  return { runId, definitionId: definition.id, workflow: definition.name, ...checked }
}

function startedHandle(
  { payloads }: StartRunParts,
  definition: SavedDefinition,
  run: NewRun,
  stored: StartedRun,
): StartedHandle {
  if (stored.created) payloads.rememberInput(run.runId, run.input)
  else assertSameInput(run, stored)
  // Of a deadline the worker has to hear even so: it may be near.
  const taken = (stored.claims ?? []).length > 0 && run.deadlineMs === undefined
  const { runId: id, created } = stored
  return { id, created, definition, version: versionOf(stored, definition), taken }
}

function versionOf(stored: StartedRun, { version }: SavedDefinition): number {
  return stored.version ?? version
}

/** The same was given, or the same is stored: a schema may make something new of one input each time, and one thing of several. */
function assertSameInput({ workflow, key, input, inputHash: hash }: NewRun, existing: StartedRun): void {
  if (hash != null && existing.inputHash === hash) return
  if (existing.input === input || dequal(fromJsonText(existing.input), fromJsonText(input))) return
  throw new BelayError(
    'key_conflict',
    `Key ${shown(key)} of workflow "${workflow}" belongs to run ${existing.runId}, which was started with another input. Use a key that names this input's event, or get that run with engine.runs.handle().`,
    { runId: existing.runId },
  )
}
