import type { GraphHandlerContext } from '@belay/workflow'
import type { Plan, SimulatedStep } from './plan.ts'

export type CompensateOn = 'completed' | 'started' | 'never'

/** When a step's effect is undone. Takes the version that undoes most. */
export function compensateOn({ versions }: Plan, name: string): CompensateOn {
  const found = versions.flatMap(({ steps }): readonly CompensateOn[] => {
    const step = steps[mapName(name)]
    const works = step !== undefined && ('handler' in step || 'repeat' in step)
    if (!works || (step.compensate ?? undoOfAll(step)) === undefined) return []
    return [step.compensateOn ?? 'completed']
  })
  return found.includes('started') ? 'started' : (found[0] ?? 'never')
}

/** What undoes all items of a map at once. */
function undoOfAll(step: SimulatedStep | undefined): unknown {
  return step !== undefined && 'compensateAll' in step ? step.compensateAll : undefined
}

/** Whether the map whose items `opener` decides undoes them all at once. */
export function undoesAll({ versions }: Plan, opener: string): boolean {
  return versions.some(({ steps }) => undoOfAll(steps[opener.slice(0, -2)]) !== undefined)
}

/** The effect of an item. */
export interface ItemEffect {
  readonly step: string
  /** The key of its undo, as if it had one of its own. */
  readonly key: string
}

/** What the undo of all items of a map is given besides. */
export interface UndoneItems {
  readonly items: readonly { readonly itemKey: string }[]
}

/** What a call of such an undo undoes; undefined for any other call. The items have the round of the step that decided them. */
export function undoneItems(
  context: GraphHandlerContext<unknown> & Partial<UndoneItems>,
): readonly ItemEffect[] | undefined {
  const { step, idempotencyKey } = context
  return context.items?.map(({ itemKey }) => {
    const name = `${step.slice(0, -1)}${itemKey}]`
    return { step: name, key: idempotencyKey.replace(step, () => name) }
  })
}

/** Whether this is the name of an item of the map whose items `opener` decides. */
export function isItemOf(name: string, opener: string): boolean {
  return opener.endsWith('[]') && name !== opener && name.startsWith(opener.slice(0, -1))
}

/** The name of an item's map or a round's loop; any other name as it is. */
function mapName(name: string): string {
  return name.replace(/\[.+\]$/, '')
}
