import type { JsonText, Lease, Outcome, UndoPlan } from '@belay/workflow/adapter'

/** Something done to both adapters. Definitions are named by their position: each store has its own numbers for them. */
export type Command =
  | { readonly do: 'start'; readonly runs: readonly PlannedRun[]; readonly lease?: Lease | undefined }
  | { readonly do: 'register' | 'renew' | 'held'; readonly workerId: string }
  | { readonly do: 'claim'; readonly workerId: string; readonly graphs: readonly number[] }
  | {
      readonly do: 'settle'
      readonly workerId: string
      readonly outcomes: readonly Outcome[]
      readonly handBackMax: number
    }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'sweep' | 'drain' | 'expire' | 'upcoming' | 'approvals' }
  | { readonly do: 'signal'; readonly signals: readonly PlannedSignal[] }
  | { readonly do: 'undo'; readonly plans: readonly UndoPlan[] }
  | { readonly do: 'cancel' | 'stopping'; readonly runIds: readonly string[] }
  | { readonly do: 'load' | 'history'; readonly runId: string }
  | Operation

/** Something an operator does. */
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

export interface PlannedRun {
  readonly runId: string
  readonly graph: number
  readonly key: string | null
  readonly input: JsonText
  readonly startDelayMs?: number | undefined
  readonly deadlineMs?: number | undefined
}

export interface PlannedSignal {
  readonly runId: string
  readonly graph: number
  readonly step: number
  readonly key: string
  readonly payload: JsonText
}

/** The runs a command is about; undefined when it may be about any. */
export function runsOf(command: Command): readonly string[] | undefined {
  switch (command.do) {
    case 'start':
      return command.runs.map(({ runId }) => runId)
    case 'settle':
      return command.outcomes.map(({ runId }) => runId)
    case 'signal':
      return command.signals.map(({ runId }) => runId)
    case 'undo':
      return command.plans.map(({ runId }) => runId)
    case 'cancel':
    case 'stopping':
      return command.runIds
    case 'load':
    case 'history':
    case 'operate':
      return [command.runId]
    case 'held':
      return []
    case 'register':
    case 'renew':
    case 'claim':
    case 'advance':
    case 'sweep':
    case 'drain':
    case 'expire':
    case 'upcoming':
    case 'approvals':
      return undefined
  }
}
