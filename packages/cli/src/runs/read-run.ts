import type { RunSnapshot, WorkflowStep } from '@belay/workflow'
import { refused } from '../cli-error.ts'
import type { Store } from '../store/store.ts'

/** A run, and the graph of its version. */
export interface RunWithGraph {
  readonly run: RunSnapshot
  readonly graph: readonly WorkflowStep[]
}

/** Reads a run with its graph, which is known if it was read before. Throws a `CliError` if the run was deleted since it was found. */
export async function readRunWithGraph(
  { engine }: Store,
  id: string,
  before?: RunWithGraph,
): Promise<RunWithGraph> {
  const run = await engine.runs.get(id)
  if (run === undefined) throw refused(`Run ${id} is not in the store any more.`, 'list')
  if (before?.run.version === run.version) return { run, graph: before.graph }
  const { steps } = await engine.workflows.get(run.workflow, run.version)
  return { run, graph: steps }
}

/** A run without its payloads: what it was given, what its steps returned, and what they published. */
export function withoutPayloads(run: RunSnapshot): RunSnapshot {
  return {
    ...run,
    input: undefined,
    values: {},
    steps: run.steps.map((step) => ({
      ...step,
      output: undefined,
      progress: step.progress && { ...step.progress, note: undefined },
    })),
  }
}
