import type { Stage } from '../supervisor/stage.ts'

export const FAULT_CLASSES = [
  'kill',
  'freeze',
  'server',
  'terminate',
  'lock',
  'network',
  'pool',
  'deploy',
  'prune',
] as const

export type FaultClass = (typeof FAULT_CLASSES)[number]

/** Something that goes wrong, of one kind. */
export interface Fault {
  readonly name: string
  readonly class: FaultClass
  /** How often it is chosen, next to the others. */
  readonly weight: number
  /** Only one of these at a time: they are upon the whole server. */
  readonly isAlone?: boolean
  /** Does it, and resolves once it is over. Who is gone from its beginning calls `gone` then: the recovery begins there, not at the end. */
  readonly strike: (stage: Stage, gone: (leases: readonly LeasedStep[]) => void) => Promise<Struck>
}

/** What was done. */
export interface Struck {
  /** For the timeline: to whom, for how long. Undefined when there was nothing to do it to. */
  readonly what: string | undefined
  /** Steps that were leased to processes it was done to: recovered once none of them is. */
  readonly leases?: readonly LeasedStep[]
}

export interface LeasedStep {
  readonly runId: string
  readonly step: number
  readonly fence: number
  readonly workerId: string
}
