import type { Stage } from '../supervisor/stage.ts'

export const FAULT_CLASSES = [
  'kill',
  'freeze',
  'server',
  'terminate',
  'lock',
  'settings',
  'network',
  'pool',
  'deploy',
  'prune',
] as const

export type FaultClass = (typeof FAULT_CLASSES)[number]

/** One kind of fault. */
export interface Fault {
  readonly name: string
  readonly class: FaultClass
  /** How often it is chosen, relative to the others. */
  readonly weight: number
  /** Only one of these at a time: they affect the whole server. */
  readonly isAlone?: boolean
  /** Does it, and resolves once it is over. If its processes are gone from the beginning, it calls `gone` then: recovery is measured from there. */
  readonly strike: (stage: Stage, gone: (leases: readonly LeasedStep[]) => void) => Promise<Struck>
}

/** What was done. */
export interface Struck {
  /** For the timeline: to whom, and for how long. Undefined if there was no target. */
  readonly what: string | undefined
  /** Steps leased to the affected processes: they have recovered once none of these leases is left. */
  readonly leases?: readonly LeasedStep[]
}

export interface LeasedStep {
  readonly runId: string
  readonly step: number
  readonly fence: number
  readonly workerId: string
}
