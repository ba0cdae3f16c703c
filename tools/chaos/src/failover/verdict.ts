import type { Effect } from './load.ts'

/** A run in the store at the end. */
export interface StoredRun {
  readonly id: string
  readonly workflow: string
  /** The name in the definition that its number names. */
  readonly defined: string | null
  readonly status: string
  /** For whom its input was made. */
  readonly of: string
}

export interface Found {
  readonly runs: readonly StoredRun[]
  readonly effects: readonly Effect[]
  /** Runs whose start was confirmed, with their workflows. */
  readonly started: ReadonlyMap<string, string>
  /** How the wait for each run ended. */
  readonly ended: ReadonlyMap<string, string>
  /** What took too long, or ended by itself, while it ran. */
  readonly late: readonly string[]
}

const STEPS = ['first', 'limited']
/** How a wait for a run may end that the store has lost. Whoever first asks after the promotion may never have seen it there. */
export const LOST: ReadonlySet<string> = new Set(['run_lost', 'unknown_run'])

/** What must hold after promotions that lost commits. */
export function violationsOf({ runs, effects, started, ended, late }: Found): readonly string[] {
  const stored = new Map(runs.map((run) => [run.id, run]))
  const keys = new Map<string, Set<string>>()
  for (const { runId, step, key } of effects) {
    const of = `${runId}/${step}`
    keys.set(of, (keys.get(of) ?? new Set()).add(key))
  }
  return [
    ...late,
    ...effects
      .filter(({ workflow, of }) => workflow !== of)
      .map(({ workflow, of, runId }) => `the handler of ${workflow} had the input of ${of} (run ${runId})`),
    ...runs
      .filter(({ workflow, defined, of }) => workflow !== defined || workflow !== of)
      .map(
        ({ id, workflow, defined, of }) =>
          `run ${id} of ${workflow} is stored as ${defined}, with the input of ${of}`,
      ),
    ...runs
      .filter(({ status }) => status !== 'completed')
      .map(({ id, workflow, status }) => `run ${id} of ${workflow} is ${status}`),
    ...runs.flatMap(({ id }) =>
      STEPS.filter((step) => !keys.has(`${id}/${step}`)).map((step) => `run ${id} has no effect of ${step}`),
    ),
    ...[...keys]
      .filter(([, each]) => each.size > 1)
      .map(([of, each]) => `${of} has ${each.size} idempotency keys`),
    ...[...started].flatMap(([id, workflow]) => wrongEnd(id, workflow, ended.get(id), stored.has(id))),
  ]
}

function wrongEnd(
  id: string,
  workflow: string,
  how: string | undefined,
  isStored: boolean,
): readonly string[] {
  if (how === undefined) return [`nobody was told how run ${id} of ${workflow} ended`]
  // It may have completed before it was lost.
  if (how === 'completed' || (!isStored && LOST.has(how))) return []
  return [`the wait for run ${id} of ${workflow} ended with ${how}; it is ${isStored ? 'stored' : 'lost'}`]
}
