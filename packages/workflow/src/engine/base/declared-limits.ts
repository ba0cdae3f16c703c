import type { DeclaredLimit } from '../../adapter/index.ts'
import type { LimitPolicy } from '../../definition/limit.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'

/** Whether attempts of this definition enter limits. */
export function hasLimits(definition: WorkflowDefinition): boolean {
  return limitsIn(definition).length > 0
}

/**
 * The limits that these definitions declare, by name.
 *
 * @throws BelayError `invalid_option` if two of them declare different numbers for one name.
 */
export function declaredLimits(definitions: Iterable<WorkflowDefinition>): readonly DeclaredLimit[] {
  const declared = new Map<string, { readonly concurrency: number; readonly workflow: string }>()
  // A workflow's newest version comes last, and a limit is no part of a version's shape.
  const newest = [...definitions].sort((one, other) => one.version - other.version)
  for (const definition of newest) {
    for (const { name, concurrency } of limitsIn(definition)) {
      const known = declared.get(name)
      if (known !== undefined && known.workflow !== definition.name && known.concurrency !== concurrency) {
        throw contradiction(name, known, { concurrency, workflow: definition.name })
      }
      declared.set(name, { concurrency, workflow: definition.name })
    }
  }
  return [...declared].map(([name, { concurrency }]) => ({ name, concurrency }))
}

type Declaration = { readonly concurrency: number; readonly workflow: string }

function contradiction(name: string, one: Declaration, other: Declaration): BelayError {
  return new BelayError(
    'invalid_option',
    `Limit "${name}" is ${one.concurrency} in workflow "${one.workflow}" and ${other.concurrency} in workflow "${other.workflow}". The same name is the same limit: give both the same number, or one of them another name.`,
  )
}

function limitsIn({ steps }: WorkflowDefinition): readonly LimitPolicy[] {
  return steps.flatMap(({ limits, map }) => [
    ...(limits ?? []),
    ...(map?.part === 'map' || map?.part === 'repeat' ? (map.item.limits ?? []) : []),
  ])
}
