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

/** Stands for a payload that is there: null means that there is none. */
const HIDDEN = '[hidden: --payloads shows it]'

/** A run without its payloads: what it was given, what its steps returned, and what they published. */
export function withoutPayloads(run: RunSnapshot): RunSnapshot {
  return {
    ...run,
    input: hidden(run.input),
    values: Object.fromEntries(Object.keys(run.values).map((name) => [name, HIDDEN])),
    steps: run.steps.map((step) => ({
      ...step,
      output: hidden(step.output),
      progress: step.progress && { ...step.progress, note: step.progress.note && HIDDEN },
    })),
  }
}

function hidden(payload: unknown): unknown {
  return payload === undefined || payload === null ? payload : HIDDEN
}

/** A run as a document. `succeeded` is about steps that failed although their handler had succeeded: on any other step it would read as a failure. */
export function documentOf(run: RunSnapshot): Readonly<Record<string, unknown>> {
  return {
    ...run,
    steps: run.steps.map(({ succeeded, ...step }) => (succeeded ? { ...step, succeeded } : step)),
  }
}
