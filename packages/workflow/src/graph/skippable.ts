import type { DefinitionShape } from '../adapter/records.ts'

/** For each step, whether it may be skipped: by its own `when`, or with a dependency. */
export function skippableSteps({ steps }: DefinitionShape): readonly boolean[] {
  const skippable: boolean[] = []
  // Numbers are a topological order: the dependencies of a step come before it.
  for (const { when, onSkipped, dependsOn } of steps) {
    skippable.push(
      when !== undefined || (onSkipped !== 'run' && dependsOn.some((dependency) => skippable[dependency])),
    )
  }
  return skippable
}
