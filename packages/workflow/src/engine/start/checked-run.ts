import { type JsonText, type NewRun, PRIORITY_MAX } from '../../adapter/index.ts'
import type { StartPolicy } from '../../definition/start-policy.ts'
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
  wholeNumber,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'
import type { CallSettings } from '../base/call-settings.ts'
import { toJsonText } from '../base/payload.ts'
import { tags } from '../base/tags.ts'
import { traceparent, withTraceparent } from '../base/traceparent.ts'
import { answerOf } from '../base/user-code.ts'
import { inputHash } from './input-hash.ts'
import { type Prioritised, priorities } from './priorities.ts'
import type { RunOptions } from './run-options.ts'
import { START_TIMES, startTimes } from './start-times.ts'

/** A checked run, ready to be stored. */
export interface CheckedRun extends CheckedOptions {
  readonly input: JsonText
  readonly inputHash: string | null
  /** Of a workflow that collects its starts: the key of the call. */
  readonly collectKey?: string | undefined
}

export type CheckedOptions = Pick<
  NewRun,
  'key' | 'tags' | 'priority' | 'stepPriorities' | 'startAt' | 'startDelayMs' | 'deadlineMs'
>

const NEW_RUNS: Kind<readonly unknown[]> = {
  words: 'an array with an object for each run',
  read: (given) => (Array.isArray(given) ? Array.from(given) : new Refusal(shown(given))),
}

const priority = { sets: 'how early its steps are claimed', takes: wholeNumber(0, PRIORITY_MAX) }

const OF_MANY = {
  key: { sets: 'the business event that the run belongs to', takes: key },
  tags: { sets: 'the labels to find the run by', takes: tags },
  priority,
  traceparent: { sets: "the caller's trace context", takes: traceparent },
  ...START_TIMES,
} satisfies OptionTable

const WITH_INPUT = { input: { sets: "the run's input", takes: anything }, ...OF_MANY } satisfies OptionTable

/** Options of a run that is started alone. */
export const RUN_OPTIONS = {
  ...OF_MANY,
  tx: { sets: 'the transaction that the start is part of', takes: anything },
} satisfies OptionTable

export function checkedOptions(
  call: string,
  workflow: Pick<WorkflowDefinition, 'name' | 'deadlineMs' | 'start'> & Prioritised,
  { key, tags, priority, traceparent, ...times }: SettingsOf<typeof OF_MANY>,
  /** The caller's trace context. A run of many calls has no single caller. */
  callers: string | undefined,
): CheckedOptions {
  const { name, deadlineMs, start } = workflow
  if (start != null) refuseForCollecting(call, { name, start }, { ...times, traceparent })
  // No tags are stored as no value.
  const all = withTraceparent(tags, traceparent ?? (start == null ? callers : undefined))
  const stored = all.length === 0 ? undefined : all
  const begins = startTimes(call, times, deadlineMs)
  return { key: key ?? null, tags: stored, ...priorities(workflow, priority), ...begins }
}

/** Refuses options of a start that contradict collecting. */
function refuseForCollecting(
  call: string,
  { name, start }: { readonly name: string; readonly start: StartPolicy },
  given: {
    readonly startAt?: unknown
    readonly delay?: unknown
    readonly deadline?: unknown
    readonly traceparent?: unknown
  },
): void {
  for (const option of ['startAt', 'delay', 'deadline', 'traceparent'] as const) {
    if (given[option] === undefined) continue
    const begins = `When its runs begin is decided by start in its definition (${start.collect.mode}).`
    const remedy = {
      startAt: begins,
      delay: begins,
      deadline: 'The deadline of the definition counts from the begin of the run: set it in define().',
      traceparent: 'A run of many calls has no single caller.',
    }[option]
    throw new BelayError(
      'invalid_option',
      `${call}: ${option} is ${shown(given[option])}, and workflow "${name}" collects its starts. ${remedy} Remove ${option}.`,
    )
  }
}

/** Awaits only asynchronous schemas: for a hundred thousand runs, promises would cost more than everything else. */
export async function checkRuns(
  settings: Pick<CallSettings, 'payloadMaxBytes' | 'runtime' | 'log' | 'traceparent'>,
  workflow: WorkflowDefinition,
  runs: readonly (RunOptions & { readonly input?: unknown })[],
): Promise<readonly CheckedRun[]> {
  // Check all options before calling the first schema, so that a thrown error never leaves a pending promise behind.
  const given = checkArgument('runMany()', 'the runs', runs, NEW_RUNS)
  // One caller, so one trace context.
  const callers = settings.traceparent?.()
  const options = given.map((run, index) => {
    const call = `runMany(): run ${index}`
    const { input, ...own } = checkOptions(call, run, WITH_INPUT)
    return { input, own: checkedOptions(call, workflow, own, callers) }
  })
  const checked = options.map(({ input, own }) => checkRun(settings, workflow, input, own))
  return checked.some((run) => run instanceof Promise) ? Promise.all(checked) : (checked as CheckedRun[])
}

export function checkRun(
  settings: Pick<CallSettings, 'payloadMaxBytes' | 'runtime' | 'log'>,
  workflow: Pick<WorkflowDefinition, 'name' | 'validate' | 'start'>,
  input: unknown,
  options: CheckedOptions,
): CheckedRun | Promise<CheckedRun> {
  const hash = options.key === null ? null : inputHash(input)
  const stored = (valid: unknown): CheckedRun => {
    const owner = () => ({ what: `Input of workflow "${workflow.name}"`, log: settings.log })
    const text = toJsonText(valid, settings.payloadMaxBytes, owner)
    const checked = { ...options, input: text, inputHash: hash }
    return workflow.start == null ? checked : { ...checked, collectKey: workflow.start.keyOf(valid) }
  }
  const valid = checkedBySchema(settings, workflow, input)
  // Without a schema the input itself comes back. If it is a promise, it is an invalid input and must not be awaited.
  return valid !== input && valid instanceof Promise ? valid.then(stored) : stored(valid)
}

/**
 * What the schema of a workflow makes of an input: a promise if there is a schema, else the input itself.
 *
 * @throws BelayError `invalid_input`, `function_timeout`.
 */
export function checkedBySchema(
  { runtime }: Pick<CallSettings, 'runtime'>,
  workflow: Pick<WorkflowDefinition, 'name' | 'validate'>,
  input: unknown,
): unknown {
  const valid = workflow.validate(input)
  if (valid === input || !(valid instanceof Promise)) return valid
  return answerOf<unknown>(runtime.clock, `The schema of workflow "${workflow.name}"`, () => valid)
}

/** What is known of a workflow of which this process has no definition. */
export const UNKNOWN = { deadlineMs: null, priority: 0, steps: [] } satisfies Partial<WorkflowDefinition>
