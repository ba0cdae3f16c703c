import type {
  EndStatus,
  JsonText,
  Lease,
  LimitLine,
  NewValue,
  Outcome,
  ParentRun,
  RateSpan,
  StartLimit,
  UndoPlan,
} from '@belay/workflow/adapter'
import type { CollectCommand } from './planned-call.ts'

import type { ScheduleCommand } from './schedules.ts'

/** Something done to both adapters. Definitions are named by their position, because each store has its own numbers for them. */
export type Command =
  | { readonly do: 'start'; readonly runs: readonly PlannedRun[]; readonly lease?: Lease | undefined }
  | { readonly do: 'register' | 'renew' | 'held' | 'leave'; readonly workerId: string }
  | { readonly do: 'claim'; readonly workerId: string; readonly graphs: readonly number[] }
  | {
      readonly do: 'settle'
      readonly workerId: string
      readonly outcomes: readonly Outcome[]
      readonly handBackMax: number
      /** Stored with the outcome, if that is settled in a transaction. */
      readonly told: readonly NewValue[]
    }
  | { readonly do: 'publish'; readonly workerId: string; readonly values: readonly NewValue[] }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'recorded'; readonly workerId: string; readonly outcomes: readonly Outcome[] }
  | { readonly do: 'sweep' | 'drain' | 'expire' | 'upcoming' | 'approvals' }
  | { readonly do: 'signal'; readonly signals: readonly PlannedSignal[] }
  /** In an application's transaction. */
  | {
      readonly do: 'within'
      readonly runs: readonly PlannedRun[]
      readonly signals: readonly PlannedSignal[]
      readonly commits: boolean
    }
  | { readonly do: 'undo'; readonly plans: readonly UndoPlan[] }
  | {
      readonly do: 'cancel' | 'stopping' | 'prune' | 'releaseKeys'
      readonly runIds: readonly string[]
    }
  /** Tells the parents of these runs to look at them. */
  | { readonly do: 'wakeParents'; readonly runIds: readonly string[] }
  /** Reads the ends of runs, and forgets the first so many. */
  | { readonly do: 'ends'; readonly forgotten: number }
  | { readonly do: 'load'; readonly runId: string; readonly branches: boolean }
  | { readonly do: 'history'; readonly runId: string }
  | CollectCommand
  | ScheduleCommand
  | Look
  | Operation
  | LimitCommand

/** A command that only reads. */
export type Look =
  | { readonly do: 'workers' | 'diagnose' | 'definitions' | 'newest' | 'listDefinitions' | 'countReady' }
  | { readonly do: 'listHeld'; readonly workerId: string }
  | { readonly do: 'statuses' | 'observe'; readonly runIds: readonly string[] }
  | { readonly do: 'find' | 'attempts' | 'values' | 'collected'; readonly runId: string }
  | { readonly do: 'findByKey'; readonly graph: number; readonly key: string }
  | { readonly do: 'children'; readonly runId: string }
  | { readonly do: 'list' | 'count' | 'findEnded'; readonly status: EndStatus }

/** Something done with limits. */
export type LimitCommand =
  | { readonly do: 'enter'; readonly workerId: string; readonly outcomes: readonly Outcome[] }
  | {
      readonly do: 'declareLimit'
      readonly name: string
      readonly concurrency: number
      readonly rate?: RateSpan | null
    }
  | {
      readonly do: 'setLimit'
      readonly name: string
      readonly concurrency: number | null
      readonly rate?: RateSpan | null
    }
  | { readonly do: 'pushBackLimit'; readonly line: LimitLine; readonly afterMs: number }
  | { readonly do: 'tendLimits'; readonly limit: number }
  | { readonly do: 'readLimits' }
  | { readonly do: 'limitWaits'; readonly runId: string }

/** An operator's action. */
export interface Operation {
  readonly do: 'operate'
  readonly runId: string
  readonly action: OperatorAction
  readonly step: string
}

export type OperatorAction =
  | 'pause'
  | 'resume'
  | 'retry'
  | 'retryStep'
  | 'skipStep'
  | 'retryCompensation'
  | 'skipCompensation'
  | 'abandon'
  | 'giveUpStep'
  | 'migrate'
  | 'setPriority'

export interface PlannedRun {
  readonly runId: string
  readonly graph: number
  readonly key: string | null
  readonly input: JsonText
  readonly startDelayMs?: number | undefined
  readonly deadlineMs?: number | undefined
  readonly parent?: ParentRun | undefined
  readonly reportsEnd?: boolean | undefined
  readonly priority?: number | undefined
  readonly stepPriorities?: readonly number[] | undefined
  readonly limits?: readonly StartLimit[] | undefined
}

export interface PlannedSignal {
  readonly runId: string
  readonly graph: number
  readonly step: number
  readonly key: string
  readonly payload: JsonText
}

/** The runs that a command is about; undefined if it may be about any. */
// Longer than other functions: one arm for each command, checked to be exhaustive.
export function runsOf(command: Command): readonly string[] | undefined {
  switch (command.do) {
    case 'start':
      return command.runs.map(({ runId }) => runId)
    case 'settle':
    case 'enter':
      return command.outcomes.map(({ runId }) => runId)
    case 'publish':
      return command.values.map(({ runId }) => runId)
    case 'signal':
      return command.signals.map(({ runId }) => runId)
    case 'undo':
      return command.plans.map(({ runId }) => runId)
    case 'within':
      return [...command.runs, ...command.signals].map(({ runId }) => runId)
    case 'recorded':
      return command.outcomes.map(({ runId }) => runId)
    case 'cancel':
    case 'stopping':
    case 'statuses':
    case 'observe':
    case 'prune':
    case 'releaseKeys':
      return command.runIds
    case 'load':
    case 'history':
    case 'find':
    case 'values':
    case 'collected':
    case 'limitWaits':
    case 'operate':
      return [command.runId]
    case 'held':
    case 'listHeld':
    case 'workers':
    case 'diagnose':
    case 'definitions':
    case 'newest':
    case 'listDefinitions':
    case 'countReady':
    case 'attempts':
    case 'findByKey':
    case 'list':
    case 'count':
    case 'children':
    case 'findEnded':
    case 'ends':
    // They name no run of the world.
    case 'schedule':
    case 'readLimits':
      return []
    case 'declareLimit':
    case 'setLimit':
    case 'pushBackLimit':
    case 'tendLimits':
    case 'register':
    case 'leave':
    case 'renew':
    case 'claim':
    case 'advance':
    case 'sweep':
    case 'drain':
    // Changes their parents.
    case 'wakeParents':
    // May change any run that collects.
    case 'collect':
    case 'expire':
    case 'upcoming':
    case 'approvals':
      return undefined
  }
}
