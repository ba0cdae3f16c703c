/** A broken guarantee. Its sentence says what, where, and how it is known. */
export interface Violation {
  readonly kind: ViolationKind
  readonly sentence: string
}

export type ViolationKind =
  | 'not_at_rest'
  | 'run_lost'
  | 'run_doubled'
  | 'run_from_rollback'
  | 'order_lost'
  | 'ledger'
  | 'effect_lost'
  | 'effect_orphaned'
  | 'effect_after_undo'
  | 'stale_beginning'
  | 'undo_without_beginning'
  | 'out_of_order'
  | 'left_behind'
  | 'undone_after_pivot'
  | 'family'
  | 'ends'
  | 'wrong_result'
  | 'wrong_value'
  | 'limit_exceeded'
  | 'slots_exceeded'
  | 'rate_exceeded'
  | 'call_lost'
  | 'call_doubled'
  | 'call_from_rollback'
  | 'firings'
  | 'left_over'
  | 'wrong_heartbeat'
  | 'feature_not_met'
  | 'began_while_paused'
  | 'signal_lost'
  | 'leased_to_nobody'
  | 'too_many_backends'
  | 'process_died'
  | 'call_hangs'
  | 'close_hangs'
  | 'unhealthy'

/** The first few of many, and their number. */
export function summarised(
  kind: ViolationKind,
  sentences: readonly string[],
  most = 5,
): readonly Violation[] {
  const shown = sentences.slice(0, most).map((sentence) => ({ kind, sentence }))
  const left = sentences.length - shown.length
  return left === 0 ? shown : [...shown, { kind, sentence: `… and ${left} more like these.` }]
}
