import type { StepFacts } from './facts.ts'

/** The idempotency key of a step's effect, or of its undo, in a round: of its newest one unless another is given. */
export function keyOf(
  runId: string,
  { name, round }: Pick<StepFacts, 'name' | 'round'>,
  { undo = false, of = round }: { readonly undo?: boolean; readonly of?: number } = {},
): string {
  const effect = of === 1 ? `${runId}:${name}` : `${runId}:${name}:${of}`
  return undo ? `${effect}:undo` : effect
}

/** The step that stands for it in the definition: of an item or a round, its map or loop. */
export function baseName(step: string): string {
  return step.split('[')[0]!
}
