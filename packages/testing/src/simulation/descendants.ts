import type { StepDefinition, WorkflowDefinition } from '@belay/workflow'
import { isItem, mapOf, type StepRecord, templateOf } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'

/** The numbers of all steps that depend on this one, directly or through others. */
function descendants(workflow: WorkflowDefinition, number: number): readonly number[] {
  const found = new Set<number>()
  const open = [number]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const dependent of workflow.graph.dependents[next]!) {
      if (!found.has(dependent)) open.push(dependent)
      found.add(dependent)
    }
  }
  return [...found]
}

/** What executes a row: its step, or of an item or a round what its map or its loop says of each. */
export function stepOf({ steps }: WorkflowDefinition, row: number): StepDefinition | undefined {
  const step = steps[templateOf(row)]
  const { map } = step ?? {}
  return isItem(row) && (map?.part === 'map' || map?.part === 'repeat') ? map.item : step
}

/** Whether the row has a child whose effects are kept once it has completed. */
export function keepsChild(definition: WorkflowDefinition, row: number): boolean {
  const { wait } = stepOf(definition, row) ?? {}
  return wait?.kind === 'child' && wait.keepsEffects
}

/** The rows of a map's items, in their order. */
export function itemsOf({ steps }: RunDump, map: number): readonly StepRecord[] {
  return steps.filter(({ step }) => isItem(step) && mapOf(step) === map)
}

/** The rows that come after this one: whatever depends on it, directly or not. */
export function rowsAfter(
  found: RunDump,
  definition: WorkflowDefinition,
  { step }: Pick<StepRecord, 'step'>,
): readonly StepRecord[] {
  const after = isItem(step) ? descendants(definition, mapOf(step)) : descendants(definition, step)
  const later = isRound(definition, step)
    ? itemsOf(found, mapOf(step)).filter((other) => other.step > step)
    : []
  const own = isItem(step) ? later : itemsOf(found, step)
  const rows = after.flatMap((number) => [found.steps[number]!, ...itemsOf(found, number)])
  return [...own, ...rows]
}

/** Whether a row is a round of a loop. */
export function isRound({ record }: WorkflowDefinition, step: number): boolean {
  return isItem(step) && record.shape.steps[mapOf(step)]!.kind === 'repeat'
}

/**
 * When a row is undone. The step that begins a loop never is, nor is the one that decides a map's items, unless it undoes all of them: then that is for
 * its items, and they have no undo of their own.
 */
export function compensateOf({ record }: WorkflowDefinition, { step }: Pick<StepRecord, 'step'>) {
  const { kind, compensate, compensateAll = false } = record.shape.steps[templateOf(step)]!
  const isOpener = (kind === 'map' || kind === 'repeat') && !isItem(step)
  return isOpener === compensateAll ? compensate : 'never'
}

/** The rows whose effects an undo of this one undoes: itself, or the items of its map. */
export function undoneWith(
  { record }: WorkflowDefinition,
  found: RunDump,
  row: StepRecord,
): readonly StepRecord[] {
  const { kind, compensateAll = false } = record.shape.steps[templateOf(row.step)]!
  return kind === 'map' && compensateAll && !isItem(row.step) ? itemsOf(found, row.step) : [row]
}
