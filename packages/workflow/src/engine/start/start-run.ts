import { dequal } from 'dequal'
import pLimit from 'p-limit'
import type { Adapter, CollectedRun, NewRun, SavedDefinition, StartedRun } from '../../adapter/index.ts'
import type { StartPolicy } from '../../definition/start-policy.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { checkOptions } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { hasChildren } from '../base/child-steps.ts'
import { checkDefinition } from '../base/definition-argument.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { fromJsonText } from '../base/payload.ts'
import type { PayloadCache } from '../base/payload-cache.ts'
import { type CheckedRun, checkedOptions, checkRun, checkRuns, RUN_OPTIONS, UNKNOWN } from './checked-run.ts'
import {
  assertSameCall,
  type CallCollector,
  type CollectedStart,
  collectAlone,
  collectedStart,
  collectWithin,
  newCall,
  refuseUncollected,
} from './collect-run.ts'
import { type Prioritised, priorities } from './priorities.ts'
import type { RunOptions } from './run-options.ts'
import { type RunStarter, STARTS_MAX, type Start } from './run-starter.ts'
import { assertNotFull, refuseScheduled, refuseUnlimited, withLimits } from './start-limits.ts'

export interface StartRunParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly payloads: PayloadCache
  readonly starter: RunStarter
  readonly collector: CallCollector
  readonly settings: CallSettings
}

export interface StartedHandle {
  readonly id: string
  readonly created: boolean
  /** As stored, if the call has created the run outside a transaction. */
  readonly tags?: readonly string[] | undefined
  /** The definition that the caller gave. */
  readonly definition: SavedDefinition
  /** The run's version. It may differ from the given definition's if the key belonged to an earlier run. */
  readonly version: number
  /** No worker needs a hint: the run is not new, or this process's worker took all its first steps. */
  readonly taken: boolean
  /** Of a workflow that collects its starts: how. */
  readonly collected?: CollectedStart | undefined
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
  const given = checkedOptions('run()', workflow, own, parts.settings.traceparent?.())
  const checked = await checkRun(parts.settings, workflow, input, given)
  const definition = await storedDefinition(parts, workflow, tx)
  if (workflow.start == null) {
    const [run] = await withLimits(workflow, [newRun(parts, definition, checked)], parts.settings)
    return storeRun(parts, definition, run!, tx)
  }
  const [started] = await collectRuns(parts, workflow.start, definition, [checked], tx)
  if ('error' in started!) throw started.error
  return started!
}

/** The same with a definition known only from the store, which has its priorities, but neither its schema nor its deadline: the input is not checked. */
export async function startUnchecked(
  parts: StartRunParts,
  definition: SavedDefinition,
  input: unknown,
  options: RunOptions,
): Promise<StartedHandle> {
  refuseUncollected(definition)
  refuseUnlimited(definition)
  const believing = { ...UNKNOWN, name: definition.name, validate: (given: unknown) => given }
  const { tx, ...own } = checkOptions('run()', options, RUN_OPTIONS)
  const run = await checkRun(
    parts.settings,
    believing,
    input,
    checkedOptions(
      'run()',
      { ...believing, ...prioritised(definition) },
      own,
      parts.settings.traceparent?.(),
    ),
  )
  return storeRun(parts, definition, newRun(parts, definition, run), tx)
}

/**
 * Checks a run that somebody else stores. Without the workflow, whose schema and deadline it then lacks, its input is not checked. Throws
 * `invalid_option` if the workflow collects its starts.
 */
export async function preparedRun(
  parts: Pick<StartRunParts, 'settings'>,
  of: { readonly definition: SavedDefinition; readonly workflow: WorkflowDefinition | undefined },
  input: unknown,
  options: Pick<CheckedRun, 'key' | 'tags'>,
): Promise<NewRun> {
  const { definition, workflow } = of
  if (definition.shape.collects !== undefined)
    throw new BelayError(
      'invalid_option',
      `Workflow "${definition.name}" collects its starts (${definition.shape.collects}), and a schedule starts one run at each time. Give the schedule a workflow without the option start, or one whose handler calls run() of "${definition.name}".`,
    )
  refuseScheduled(definition, workflow)
  const believing = workflow ?? { ...UNKNOWN, name: definition.name, validate: (given: unknown) => given }
  const deadlineMs = workflow?.deadlineMs ?? undefined
  const own = { ...options, ...priorities(workflow ?? prioritised(definition), undefined), deadlineMs }
  return newRun(parts, definition, await checkRun(parts.settings, believing, input, own))
}

/** The priorities that a version had when it was stored. */
function prioritised({ shape }: SavedDefinition): Prioritised {
  return { priority: shape.priority, steps: shape.steps }
}

async function storeRun(
  parts: StartRunParts,
  definition: SavedDefinition,
  run: NewRun,
  tx: unknown,
): Promise<StartedHandle> {
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
  const checked = await checkRuns(parts.settings, workflow, runs)
  const definition = await storedDefinition(parts, workflow, tx)
  if (workflow.start != null) {
    const collected = await collectRuns(parts, workflow.start, definition, checked, tx)
    const handled = collected.map((each, index) => ('error' in each ? each : onStarted(each, index)))
    const failed = collected.find((each) => 'error' in each)
    if (failed !== undefined) throw failed.error
    return handled as Result[]
  }
  const all = await withLimits(
    workflow,
    checked.map((run) => newRun(parts, definition, run)),
    parts.settings,
  )
  if (tx !== undefined) return (await startWithin(parts, definition, all, tx)).map(onStarted)
  const results = new Array<Result>(runs.length)
  let refused: { readonly error: unknown } | undefined
  const startBatch = async (first: number) => {
    const batch = all.slice(first, first + STARTS_MAX)
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
  { adapter, registry }: StartRunParts,
  definition: SavedDefinition,
  runs: readonly NewRun[],
  tx: unknown,
): Promise<readonly StartedHandle[]> {
  const started: StartedHandle[] = []
  for (let first = 0; first < runs.length; first += STARTS_MAX) {
    const batch = runs.slice(first, first + STARTS_MAX)
    const stored = await registry.sending(batch, (sent) => adapter.startRuns(sent, { tx }), tx)
    batch.forEach((run, index) => {
      const found = stored[index]!
      assertNotFull(run, found)
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

type Collected = StartedHandle | { readonly error: unknown }

/** Collects the calls. One that is refused does not stop the others. */
async function collectRuns(
  parts: StartRunParts,
  policy: StartPolicy,
  definition: SavedDefinition,
  checked: readonly CheckedRun[],
  tx: unknown,
): Promise<readonly Collected[]> {
  const given = { policy, inputMaxBytes: parts.settings.payloadMaxBytes }
  const calls = checked.map((run) => newCall(newRun(parts, definition, run), run, given))
  const collected =
    tx === undefined ? await collectAlone(parts.collector, calls) : await collectWithin(parts, calls, tx)
  return collected.map((start, index): Collected => {
    try {
      if ('refused' in start && start.refused === true) throw start.error
      const found = start as CollectedRun
      assertSameCall(calls[index]!, checked[index]!.key, found)
      const { runId: id, created, due } = found
      // A run that is due needs a hint, whoever opened it.
      const handle = {
        id,
        created,
        definition,
        version: versionOf(found, definition),
        taken: !created && !due,
        tags: calls[index]!.tags,
      }
      return { ...handle, collected: collectedStart(policy.collect.mode, found) }
    } catch (error) {
      return { error }
    }
  })
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
  { payloads, settings }: StartRunParts,
  definition: SavedDefinition,
  run: NewRun,
  stored: StartedRun,
): StartedHandle {
  assertNotFull(run, stored)
  if (stored.created) {
    payloads.rememberInput(run.runId, run.input)
    settings.traceparents?.remember(run)
  } else assertSameInput(run, stored)
  // A run with a deadline always needs a hint: the deadline may be near.
  const taken = !stored.created || ((stored.claims ?? []).length > 0 && run.deadlineMs === undefined)
  const { runId: id, created } = stored
  return { id, created, definition, version: versionOf(stored, definition), taken, tags: run.tags }
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
    `Key ${shown(key)} of workflow "${workflow}" belongs to run ${existing.runId}, which was started with another input.`,
    { remedy: "Use a key that names this input's event, or get that run by its id.", runId: existing.runId },
  )
}
