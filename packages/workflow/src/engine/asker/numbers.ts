import { isItem, itemIndex, itemNumber, mapOf } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Phase } from '../../machine/records.ts'
import { at } from '../../machine/scope.ts'
import type { Run, Unit } from '../../machine/state.ts'

// A definition numbers its steps; a map or a loop has two of them there, of which the first decides its items. A run numbers its units.

const known = new WeakMap<WorkflowDefinition, ReadonlyMap<string, number>>()

/** Steps by the names of units: of a map or a loop the second one. */
function numbersOf(definition: WorkflowDefinition): ReadonlyMap<string, number> {
  const kept = known.get(definition)
  if (kept !== undefined) return kept
  const made = new Map(definition.graph.names.map((name, number) => [name, number]))
  known.set(definition, made)
  return made
}

/** The step that decides the items of a map or the rounds of a loop; of any other unit its step. */
function openerOf(definition: WorkflowDefinition, name: string): number {
  const number = numbersOf(definition).get(name)!
  const isJoin = definition.steps[number]!.map?.part === 'join'
  return isJoin ? definition.graph.dependencies[number]![0]! : number
}

/** The number of the step, or of the item’s row, that answers a phase of a unit. */
export function stepNumber(
  definition: WorkflowDefinition,
  { key, scope, units }: Unit,
  phase: Phase,
): number {
  if (typeof key === 'number') return itemNumber(openerOf(definition, scope!.key as string), key)
  if (phase === 'gather') return numbersOf(definition).get(key)!
  const opener = openerOf(definition, key)
  // What follows a round is asked as the end of that round.
  return phase === 'until' ? itemNumber(opener, lastRound(units!)) : opener
}

function lastRound(units: readonly Unit[]): number {
  return units.findLast(({ status }) => status === 'completed')!.key as number
}

/** The unit of a number. */
export function unitOf({ root }: Run, definition: WorkflowDefinition, number: number): Unit | undefined {
  const { names, dependents } = definition.graph
  const step = isItem(number) ? mapOf(number) : number
  const { map } = definition.steps[step]!
  const isOpener = map?.part === 'map' || map?.part === 'repeat'
  const unit = at(root, names[isOpener ? dependents[step]![0]! : step]!)
  return isItem(number) && unit !== undefined ? at(unit, itemIndex(number)) : unit
}
