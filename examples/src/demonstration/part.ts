import type { Engine, WorkflowDefinition } from '@belay/workflow'
import type { Player } from './player.ts'

/** One of the parts that `npm start` shows. */
export interface Part {
  readonly workflow: WorkflowDefinition
  /** How many handlers run at once. */
  readonly concurrency: number
  show(players: Players): Promise<Outcome>
}

export interface Players {
  readonly engine: Engine
  readonly player: Player
}

export interface Outcome {
  /** Whether every promise was kept. */
  readonly kept: boolean
  /** Ends the showing: the next start begins a new one. */
  finish(): Promise<void>
}
