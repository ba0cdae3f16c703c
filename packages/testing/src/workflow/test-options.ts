import type { EngineOptions, RunOptions, WorkflowDefinition } from '@belay/workflow'
import {
  anything,
  checkOptions,
  type Duration,
  duration,
  type OptionTable,
  wholeNumber,
  yesOrNo,
} from '@belay/workflow/adapter'
import { date, definitions, engineOptions, runOptions } from './test-kinds.ts'
import type { CrashOptions, FailOptions } from './tested-steps.ts'

/** What `testWorkflow()` takes. */
export type TestOptions<Input> = SharedTestOptions &
  (undefined extends Input ? { readonly input?: Input } : { readonly input: Input })

export interface SharedTestOptions {
  /**
   * Definitions of children. One with the name and version of a child takes the child's place, so that a test can give it other handlers; children
   * that are known by name only must be here.
   */
  readonly workflows?: readonly WorkflowDefinition[]
  /** The first instant of virtual time. Default 2025-01-01 UTC. */
  readonly now?: Date
  /** Options of the run: a key, tags, a start time, a deadline. */
  readonly run?: Omit<RunOptions, 'tx'>
  /** Options of the engines: a lease, a concurrency, a logger. Default of `logger`: false. */
  readonly engine?: Omit<Partial<EngineOptions>, 'adapter' | 'workflows' | 'clock'>
}

/** The arguments after the definition: options, which may be left out if the workflow needs no input. */
export type TestArguments<Input> = undefined extends Input
  ? [options?: TestOptions<Input>]
  : [options: TestOptions<Input>]

const TEST_OPTIONS = {
  input: { sets: "the run's input", takes: anything },
  workflows: { sets: 'definitions of children', takes: definitions, default: [] },
  now: { sets: 'the first instant', takes: date },
  run: { sets: 'options of the run', takes: runOptions, default: {} },
  engine: { sets: 'options of the engines', takes: engineOptions, default: {} },
} satisfies OptionTable

export interface CheckedTestOptions
  extends Required<Pick<SharedTestOptions, 'workflows' | 'run' | 'engine'>> {
  readonly input: unknown
  readonly now: Date | undefined
}

export function checkTestOptions(options: unknown): CheckedTestOptions {
  return checkOptions('testWorkflow()', options ?? {}, TEST_OPTIONS) as CheckedTestOptions
}

const TIMES = { sets: 'how many attempts', takes: wholeNumber(1, 1_000_000) } as const

const FAIL_OPTIONS = {
  times: TIMES,
  after: { sets: 'whether the handler does its work before', takes: yesOrNo, default: false },
} satisfies OptionTable

const CRASH_OPTIONS = {
  times: { ...TIMES, default: 1 },
  before: { sets: 'whether the worker dies before the handler begins', takes: yesOrNo, default: false },
} satisfies OptionTable

export function checkFail(call: string, options: FailOptions): { times: number | undefined; after: boolean } {
  return checkOptions(call, options, FAIL_OPTIONS)
}

export function checkCrash(call: string, options: CrashOptions): { times: number; before: boolean } {
  return checkOptions(call, options, CRASH_OPTIONS)
}

const LIMIT = {
  limit: { sets: 'how much virtual time may pass', takes: duration(0, '36500d'), default: '366d' },
} satisfies OptionTable

export interface LimitOptions {
  /** How much virtual time may pass. Default 366 days. */
  readonly limit?: Duration
}

export function checkLimit(call: string, options: LimitOptions): number {
  return checkOptions(call, options, LIMIT).limit
}
