import type { InputOf, OutputsOf, ReceivesOf, RunSnapshot, WorkflowDefinition } from '@belay/workflow'
import {
  anything,
  callback,
  checkOptions,
  type Kind,
  type OptionTable,
  Refusal,
  shown,
} from '@belay/workflow/adapter'
import { type LimitOptions, type TestOptions, testWorkflow, type WorkflowTest } from '../workflow/index.ts'
import { checkTested, date, definitions, engineOptions, runOptions } from '../workflow/test-kinds.ts'
import { differences } from './differences.ts'
import { effectsOfSteps, endStepsOf, type StepEffect } from './effects-of-steps.ts'
import { plainCopy } from './plain-copy.ts'
import { failuresOf, type PlannedFailure } from './planned-failures.ts'
import { RollbackReport, type RollbackRun } from './rollback-report.ts'

/** What `checkRollback()` takes: what `testWorkflow()` takes, and the world. */
export type RollbackOptions<Definition extends WorkflowDefinition> = TestOptions<InputOf<Definition>> &
  LimitOptions & {
    /**
     * Reads the world that the handlers change: rows, messages, balances. It is compared before and after each run, so it must be plain data: what
     * hides its state, like private fields, functions and promises, is refused with `invalid_option`.
     */
    readonly effects?: () => unknown
    /** Makes the world new before each run. */
    readonly reset?: () => unknown
    /** Does in each run what somebody else would do: sends its signals, approves. Also the place for stubs. */
    readonly drive?: (test: WorkflowTest<OutputsOf<Definition>, ReceivesOf<Definition>>) => unknown
    /** Steps that change nothing, so that they need no compensation. */
    readonly withoutEffect?: readonly (keyof OutputsOf<Definition> & string)[]
  }

/** The arguments after the definition. */
export type RollbackArguments<Definition extends WorkflowDefinition> =
  undefined extends InputOf<Definition>
    ? [options?: RollbackOptions<Definition>]
    : [options: RollbackOptions<Definition>]

/** The same without its types. */
interface Rollback {
  readonly definition: WorkflowDefinition
  readonly options: Untyped
  readonly facts: ReadonlyMap<string, StepEffect>
}

type Untyped = LimitOptions & {
  readonly workflows?: readonly WorkflowDefinition[]
  readonly effects?: () => unknown
  readonly reset?: () => unknown
  readonly drive?: (test: Test) => unknown
  readonly withoutEffect?: readonly string[]
}

const GIVEN = { takes: anything }

const stepNames: Kind<readonly string[]> = {
  words: 'an array of names of steps',
  read(given) {
    const names: readonly unknown[] = Array.isArray(given) ? Array.from(given) : [undefined]
    return names.every((name) => typeof name === 'string') ? names : new Refusal(shown(given))
  },
}

const OPTIONS = {
  input: { sets: "the runs' input", ...GIVEN },
  workflows: { sets: 'definitions of children', takes: definitions },
  now: { sets: 'the first instant', takes: date },
  run: { sets: 'options of the runs', takes: runOptions },
  engine: { sets: 'options of the engines', takes: engineOptions },
  limit: { sets: 'how much virtual time a run may take', ...GIVEN },
  effects: { sets: 'how the world is read', takes: callback<() => unknown>() },
  reset: { sets: 'how the world is made new', takes: callback<() => unknown>() },
  drive: { sets: 'what somebody else does', takes: callback<(test: Test) => unknown>() },
  withoutEffect: { sets: 'steps that change nothing', takes: stepNames },
} satisfies OptionTable

type Test = WorkflowTest<Readonly<Record<string, unknown>>, unknown>

/**
 * Runs the workflow once without a failure, and then once for each step and each way to fail: before its effect, and after it. Waits for the undo,
 * and reports the effects that stay.
 *
 * End steps do nothing in the runs that fail: what they do is meant to stay.
 *
 * @throws if the run without a failure does not complete; BelayError `invalid_option` for a world that cannot be compared.
 */
export async function checkRollback<Definition extends WorkflowDefinition>(
  definition: Definition,
  ...[options]: RollbackArguments<Definition>
): Promise<RollbackReport> {
  checkTested('checkRollback()', definition)
  const untyped = checkOptions('checkRollback()', (options ?? {}) as object, OPTIONS) as Untyped
  const facts = effectsOfSteps(definition, untyped.workflows ?? [])
  const rollback: Rollback = { definition, options: untyped, facts }
  const { test, end } = await runOnce(rollback, undefined)
  if (end.status !== 'completed') throw notCompleted(definition, end)
  const performed = test.calls.filter(({ direction, tookEffect }) => direction === 'forward' && tookEffect)
  const reached = new Set(performed.map(({ step }) => factOf(rollback, step)?.name))
  const comparedWorld = rollback.options.effects !== undefined
  const runs: RollbackRun[] = []
  for (const failure of failuresOf({ definition, performed, facts: rollback.facts, comparedWorld }))
    runs.push(await failing(rollback, failure))
  const names = [...rollback.facts.keys()]
  return new RollbackReport({
    workflow: definition.name,
    runs,
    unprotected: names.filter((name) => reached.has(name) && isUnprotected(rollback, name)),
    unreached: names.filter((name) => !reached.has(name)),
    comparedWorld,
  })
}

/** Like {@link checkRollback}. Throws the report if something stays behind. */
export async function assertRollback<Definition extends WorkflowDefinition>(
  definition: Definition,
  ...given: RollbackArguments<Definition>
): Promise<RollbackReport> {
  const report = await checkRollback(definition, ...given)
  if (!report.ok) throw new Error(String(report))
  return report
}

interface Ended {
  readonly test: Test
  readonly end: RunSnapshot
  readonly changes: readonly string[]
}

async function runOnce(
  { definition, options }: Rollback,
  failure: PlannedFailure | undefined,
): Promise<Ended> {
  const { effects, reset, drive, withoutEffect: _, limit, ...testing } = options
  await reset?.()
  const before = plainCopy(await effects?.())
  const test = testWorkflow(definition, testing as never) as unknown as Test
  if (failure !== undefined) {
    test.fail(failure.step, undefined, { after: failure.failed === 'after' })
    // What an end step does is meant to stay, and would count as left behind.
    for (const step of endStepsOf(definition, options.workflows ?? [])) test.stub(step, () => undefined)
  }
  await driven(test, drive, failure)
  const end = await test.end(limit === undefined ? {} : { limit })
  const changes = differences(before, plainCopy(await effects?.()))
  await test.close()
  return { test, end, changes }
}

/** A run that has stopped takes no signals any more. */
async function driven(
  test: Test,
  drive: Untyped['drive'],
  failure: PlannedFailure | undefined,
): Promise<void> {
  try {
    await drive?.(test)
  } catch (error) {
    const goesOn = ['scheduled', 'running', 'waiting'].includes((await test.status()).status)
    if (failure === undefined || goesOn) throw error
  }
}

async function failing(rollback: Rollback, failure: PlannedFailure): Promise<RollbackRun> {
  const { test, end, changes } = await runOnce(rollback, failure)
  const unjudged = whyUnjudged(rollback, test, end)
  const left = rollback.options.effects === undefined ? notUndone(rollback, test) : changes
  return { ...failure, status: end.status, leftBehind: unjudged === undefined ? left : [], unjudged }
}

function whyUnjudged(rollback: Rollback, test: Test, { status }: RunSnapshot): string | undefined {
  if (status === 'completed') return 'the run completed without the step'
  if (status === 'parked') return 'the run goes forward only, after its pivot'
  if (rollback.options.effects === undefined) return undefined
  const staying = forwardEffects(test).find((step) => factOf(rollback, step)?.fact.stays === true)
  return staying === undefined ? undefined : `"${staying}" had run, whose effect nothing can undo`
}

/** Steps that took effect, can be undone, and were not. */
function notUndone(rollback: Rollback, test: Test): readonly string[] {
  const undone = new Set(test.effects)
  return forwardEffects(test).filter((step) => {
    const found = factOf(rollback, step)
    // A map may undo all its items in one call.
    const isUndone = undone.has(`undo ${step}`) || undone.has(`undo ${found?.name}[]`)
    return found?.fact.hasUndo === true && !isUndone
  })
}

function forwardEffects(test: Test): readonly string[] {
  const took = test.calls.filter(({ direction, tookEffect }) => direction === 'forward' && tookEffect)
  return [...new Set(took.map(({ step }) => step))]
}

function isUnprotected({ facts, options }: Rollback, name: string): boolean {
  const { hasUndo, stays } = facts.get(name)!
  return !hasUndo && !stays && options.withoutEffect?.includes(name) !== true
}

/** What is known of a step, also by the name of an item or a round. */
function factOf({ facts }: Rollback, step: string): { name: string; fact: StepEffect } | undefined {
  const name = facts.has(step) ? step : step.replace(/\[.*\]$/s, '')
  const fact = facts.get(name)
  return fact && { name, fact }
}

function notCompleted({ name }: WorkflowDefinition, { status, cause }: RunSnapshot): Error {
  const why = cause?.type === 'step_failed' ? `: step "${cause.step}" failed with ${cause.error.message}` : ''
  return new Error(
    `checkRollback(): without any failure, the run of "${name}" ended as ${status}${why}. It must complete.`,
  )
}
