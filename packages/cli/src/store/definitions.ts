import type { WorkflowDefinition } from '@belay/workflow'
import type { Store } from './store.ts'

/** The definitions of the config with those of their children, which an engine has too. */
export function definitionsOf({ workflows }: Pick<Store, 'workflows'>): readonly WorkflowDefinition[] {
  const all = new Map(workflows.map((workflow) => [idOf(workflow), workflow]))
  // Definitions that are added are visited in turn.
  for (const { steps } of all.values()) {
    for (const step of steps) {
      const { wait } = (step.map !== null && 'item' in step.map && step.map.item) || step
      if (wait?.kind !== 'child' || typeof wait.of === 'string') continue
      const child = wait.of as WorkflowDefinition
      if (!all.has(idOf(child))) all.set(idOf(child), child)
    }
  }
  return [...all.values()]
}

/** The definition that the config has of a version. */
export function definitionOf(
  store: Pick<Store, 'workflows'>,
  wanted: { readonly workflow: string; readonly version: number },
): WorkflowDefinition | undefined {
  return definitionsOf(store).find(
    ({ name, version }) => name === wanted.workflow && version === wanted.version,
  )
}

function idOf({ name, version }: WorkflowDefinition): string {
  return `${name}@${version}`
}
