import type { NewRun, SavedDefinition, StartedRun, StartLimit } from '../../adapter/index.ts'
import { type LimitPolicy, refusingLimits } from '../../definition/limit.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError, LimitReachedError } from '../../errors.ts'
import { Refusal, readAs } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { messageOf } from '../../thrown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { LIMIT_KEY } from '../base/limit-key.ts'
import { fromJsonText } from '../base/payload.ts'
import { answerOf, isUnanswered } from '../base/user-code.ts'

/** The runs with the limits at which their start is refused. Calls the limits' key functions. Throws `invalid_option` for what is no key. */
export async function withLimits(
  workflow: WorkflowDefinition,
  runs: readonly NewRun[],
  settings: Pick<CallSettings, 'runtime'>,
): Promise<readonly NewRun[]> {
  const refusing = refusingLimits(workflow)
  if (refusing.length === 0) return runs
  return Promise.all(
    runs.map(async (run) => {
      const limits = refusing.map((policy) => startLimit(workflow, policy, run, settings))
      return { ...run, limits: await Promise.all(limits) }
    }),
  )
}

async function startLimit(
  { name: workflow }: WorkflowDefinition,
  { name: limit, concurrency, keyOf }: LimitPolicy,
  { runId, input }: NewRun,
  { runtime }: Pick<CallSettings, 'runtime'>,
): Promise<StartLimit> {
  if (keyOf === undefined) return { limit, key: '', concurrency }
  const of = `run(): the key of limit "${limit}" of workflow "${workflow}"`
  if (keyOf === null)
    throw new BelayError(
      'invalid_option',
      `${of} is null in this process, so that it cannot tell whether the run may start. Give defineGraph() the handler that returns the key.`,
    )
  const call = keyOf as (context: unknown) => unknown
  let key: unknown
  try {
    // As the worker calls it: with the stored input.
    key = await answerOf(runtime.clock, of, () => call({ runId, input: fromJsonText(input) }))
  } catch (cause) {
    if (isUnanswered(cause)) throw cause
    throw new BelayError('invalid_option', `${of} threw: ${messageOf(cause)}`, { cause })
  }
  const read = readAs(LIMIT_KEY, key)
  if (!Refusal.is(read)) return { limit, key: read, concurrency }
  throw new BelayError('invalid_option', `${of} returned ${read.got}, and must return ${LIMIT_KEY.words}.`)
}

/** Throws the refusal, if a limit of the run had no slot. */
export function assertNotFull({ workflow }: NewRun, { full }: StartedRun): void {
  if (full === undefined) return
  const { limit, key, concurrency } = full
  const slots = concurrency === 1 ? 'the only slot is' : `all ${concurrency} slots are`
  const whose = key === '' ? '' : ` for key ${shown(key)}`
  const why =
    concurrency === 0 ? 'the limit is set to 0' : `${slots} taken${whose}, or the key was pushed back`
  throw new LimitReachedError(
    `No run of workflow "${workflow}" was started: limit "${limit}" has no slot, because ${why}. Try again once a run has ended, or use atLimit: 'wait', with which the run would wait for its turn.`,
    full,
  )
}

/** Refuses a start by name in a process that does not have the functions which return the keys. */
export function refuseUnlimited({ name, shape }: SavedDefinition): void {
  if (shape.refuses === undefined) return
  throw new BelayError(
    'unknown_workflow',
    `run(): starts of workflow "${name}" are refused at a limit, and this engine does not have its definition, which tells the keys.`,
    { remedy: "Add it to the engine's `workflows`." },
  )
}

/** Refuses a schedule of a workflow whose starts may be refused: a firing has nobody to tell. */
export function refuseScheduled(
  { name, shape }: SavedDefinition,
  workflow: WorkflowDefinition | undefined,
): void {
  if (shape.refuses === undefined && (workflow === undefined || refusingLimits(workflow).length === 0)) return
  throw new BelayError(
    'invalid_option',
    `Starts of workflow "${name}" are refused at a limit (concurrency.atLimit: 'refuse'), and a schedule's firing has no caller to tell. Use atLimit: 'wait' or 'skip', the schedule's overlap, or give the schedule a workflow whose handler calls run() of "${name}".`,
  )
}
