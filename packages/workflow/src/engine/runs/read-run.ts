import {
  type Adapter,
  type DifferingItems,
  isItem,
  type ReadItems,
  withDiffering,
} from '../../adapter/index.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { SeenRun } from './run-feed.ts'

export interface RunReading {
  readonly adapter: Adapter
  readonly registry: Pick<DefinitionRegistry, 'marked'>
}

type ReadRun = NonNullable<Awaited<ReturnType<Adapter['readRun']>>>

/** The most groups of items in one statement: some 8,000 items. */
const GROUPS_MAX = 16

/** Reads a run for those who wait for its outputs: without items, whose outputs are in those of their maps. Null if there is no such run. */
export async function readRun({ adapter, registry }: RunReading, runId: string): Promise<SeenRun | null> {
  const found = await adapter.readRun(runId, 'none')
  return found === null ? null : { ...found, ...(await registry.marked(found.run.definitionId)) }
}

/**
 * Reads a run with all its items, or only those items that have changed since `before`. The items are never older than the run: if it has ended, they
 * have ended too. What changes during the reading is seen by the next one. Null if there is no such run.
 */
export async function readWholeRun(
  { adapter, registry }: RunReading,
  runId: string,
  { outputs, before = new Map() }: { readonly outputs: boolean; readonly before?: ReadItems | undefined },
): Promise<SeenRun | null> {
  const known = [...before].map(([first, { print }]) => ({ first, print }))
  const read = (after: number) => adapter.readRun(runId, { known, after, groupsMax: GROUPS_MAX, outputs })
  const found = await read(0)
  if (found === null) return null
  let items = before
  let part: ReadRun | null = found
  while (part?.differing !== undefined) {
    items = withDiffering(items, part.steps, part.differing)
    const { prints, more }: DifferingItems = part.differing
    part = more ? await read(prints.at(-1)!.first) : null
  }
  const steps = found.steps.filter(({ step }) => !isItem(step))
  const rows = [...items.values()].flatMap((group) => group.rows)
  return {
    ...found,
    steps: [...steps, ...rows],
    items,
    ...(await registry.marked(found.run.definitionId)),
  }
}
