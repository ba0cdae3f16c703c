import type { HealthFinding } from '../api.ts'

/** `GET needs`: {@link NeedsPage}. What the doctor found beside parked undos. Undos, approvals and signals have answers of their own: `parked`, `waiting`. */
export interface NeedsPage {
  readonly readAt: number
  /** The worst first, up to half a minute old. */
  readonly findings: readonly HealthFinding[]
}
