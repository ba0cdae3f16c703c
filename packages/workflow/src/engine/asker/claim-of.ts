import type { Claim, NewItem, UndoneStatus } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Ask } from '../../owner/index.ts'
import { stepNumber } from './numbers.ts'

/** An ask as an attempt knows it. */
export function claimOf({ owned, unit, serial, phase }: Ask, definition: WorkflowDefinition): Claim {
  const isUndo = phase === 'undo'
  const { attempt, failures, kills } = unit.tries
  const item = itemOf({ owned, unit })
  return {
    runId: owned.id,
    step: stepNumber(definition, unit, phase),
    fence: serial,
    direction: isUndo ? 'undo' : 'forward',
    definitionId: owned.code.definition,
    round: unit.round,
    attempt,
    failures,
    // Only such a loss may have been the handler’s fault.
    losses: kills,
    undoOf: isUndo ? (unit.of as UndoneStatus) : null,
    ...(item === undefined ? {} : { item }),
  }
}

/** What an item or a round begins with, if it is in memory: of a round after the first, what the round before it has returned. */
export function itemOf({ owned, unit }: Pick<Ask, 'owned' | 'unit'>): NewItem | undefined {
  const { key, scope, no, label } = unit
  if (typeof key !== 'number') return undefined
  const isRound = scope!.kind.name === 'loop'
  const value = isRound && key > 0 ? owned.outputOf(scope!.units![key - 1]!.no) : owned.itemOf(no)
  return value === undefined ? undefined : { key: label ?? String(key), value }
}
