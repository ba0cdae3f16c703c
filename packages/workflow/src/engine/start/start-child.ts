import type { Adapter, JsonText, NewRun, SavedDefinition, StartedRun } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { PermanentError } from '../../handler-errors.ts'
import { messageOf } from '../../thrown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { hasChildren } from '../base/child-steps.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { toJsonText } from '../base/payload.ts'
import { checkedBySchema } from './checked-run.ts'
import { newestStored } from './newest-stored.ts'
import { priorities } from './priorities.ts'
import type { RunStarter } from './run-starter.ts'
import { assertNotFull, refuseUnlimited, withLimits } from './start-limits.ts'

export interface StartChildParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly starter: Pick<RunStarter, 'start'>
  readonly settings: CallSettings
  readonly onStarted: (child: { readonly run: NewRun; readonly definition: SavedDefinition }) => void
}

/** The run to start, with the longest that it may take besides its own deadline. A buried one has no input: none of its steps ever begins. */
type NewChild = Pick<NewRun, 'key' | 'parent' | 'parentFence' | 'reportsEnd' | 'startDelayMs' | 'priority'> &
  (
    | { readonly input: unknown; readonly deadlineMs?: number | undefined; readonly buried?: false }
    | { readonly buried: true }
  )

/**
 * Starts the child of a step, unless its key is taken.
 *
 * @throws PermanentError for an input that the child's schema refuses.
 * @throws BelayError `lease_lost` if the attempt with `parentFence` has lost its step, `unknown_workflow`, and the store's errors.
 */
export async function startChild(
  parts: StartChildParts,
  of: WorkflowDefinition | string,
  child: NewChild,
): Promise<{ readonly runId: string; readonly workflow: string; readonly created: boolean }> {
  const { registry, starter, settings, onStarted } = parts
  const workflow = typeof of === 'string' ? newestOf(settings.workflows, of) : of
  const definition =
    workflow === undefined ? await stored(parts, of as string) : await registry.save(workflow)
  if (definition.shape.collects !== undefined && child.buried !== true) throw collecting(definition)
  const { key, parent, parentFence, reportsEnd, startDelayMs } = child
  const run: NewRun = {
    runId: settings.runtime.newId(),
    definitionId: definition.id,
    workflow: definition.name,
    input: child.buried === true ? null : await checkedInput(parts, definition.name, workflow, child.input),
    deadlineMs:
      child.buried === true ? undefined : sooner(workflow?.deadlineMs ?? undefined, child.deadlineMs),
    key,
    parent,
    parentFence,
    reportsEnd: reportsEnd === true || definition.shape.endSteps === true || hasChildren(definition.shape),
    startDelayMs,
    ...priorities(workflow ?? definition.shape, child.priority || undefined),
  }
  const limited = child.buried === true ? run : await withChildLimits(parts, workflow, definition, run)
  const started = await starter.start(limited)
  const { runId, created } = started
  if (started.lost === true) throw stepLost(run)
  if (started.full !== undefined) throw refusedChild(limited, started)
  if (created && child.buried !== true) onStarted({ run, definition })
  return { runId, workflow: definition.name, created }
}

/** @throws PermanentError if this process cannot tell the keys. */
async function withChildLimits(
  { settings }: StartChildParts,
  workflow: WorkflowDefinition | undefined,
  definition: SavedDefinition,
  run: NewRun,
): Promise<NewRun> {
  try {
    if (workflow === undefined) refuseUnlimited(definition)
    return workflow === undefined ? run : (await withLimits(workflow, [run], settings))[0]!
  } catch (cause) {
    throw new PermanentError(messageOf(cause), { cause })
  }
}

/** The attempt's outcome meets its fence too: nothing of it is recorded. */
function stepLost({ workflow, parent }: NewRun): BelayError {
  const runId = parent!.runId
  return new BelayError(
    'lease_lost',
    `No child "${workflow}" of run ${runId} was started: the step that starts it no longer belongs to this worker, which was presumed dead, or its run has ended meanwhile.`,
    { runId },
  )
}

/** The step fails: whoever says that a start is refused does not want it to be tried until it is not. */
function refusedChild(run: NewRun, started: StartedRun): PermanentError {
  try {
    assertNotFull(run, started)
  } catch (cause) {
    return new PermanentError(messageOf(cause), { cause })
  }
  throw new Error('A start with a full limit was not refused.')
}

function collecting({ name, shape }: SavedDefinition): PermanentError {
  return new PermanentError(
    `Workflow "${name}" collects its starts (${shape.collects}), and a child is one run for one step. Give the step a workflow without the option start, or call run() of "${name}" in a handler.`,
  )
}

function sooner(own: number | undefined, parents: number | undefined): number | undefined {
  return own === undefined || parents === undefined ? (own ?? parents) : Math.min(own, parents)
}

function newestOf(workflows: readonly WorkflowDefinition[], name: string): WorkflowDefinition | undefined {
  const named = workflows.filter((workflow) => workflow.name === name)
  return named.sort((one, other) => other.version - one.version)[0]
}

async function stored({ adapter }: StartChildParts, name: string): Promise<SavedDefinition> {
  const found = await newestStored(adapter, name)
  if (found !== null) return found
  throw new BelayError(
    'unknown_workflow',
    `No workflow is named "${name}": this engine has none among its \`workflows\`, and none is stored.`,
    { remedy: 'Add it, or correct the name.' },
  )
}

async function checkedInput(
  { settings }: StartChildParts,
  name: string,
  workflow: WorkflowDefinition | undefined,
  input: unknown,
): Promise<JsonText> {
  const what = `Input of the child "${name}"`
  try {
    const valid = workflow === undefined ? input : await checkedBySchema(settings, workflow, input)
    return toJsonText(valid, settings.payloadMaxBytes, () => ({ what, log: settings.log }))
  } catch (cause) {
    // A repetition gives the same input.
    if (BelayError.is(cause) && cause.code === 'invalid_input')
      throw new PermanentError(cause.message, { cause })
    throw cause
  }
}
