import pLimit from 'p-limit'
import type { Adapter, NewRun, RunEnd, StartedRun } from '../adapter/index.ts'
import type { EndCase, FollowUpInput } from '../definition/end-steps.ts'
import type { WorkflowDefinition } from '../definition/workflow.ts'
import type { DefinitionRegistry } from './base/definition-registry.ts'
import type { EngineSettings } from './options.ts'
import { readWholeRun } from './runs/read-run.ts'
import { undoReport } from './runs/run-failed-error.ts'
import type { SeenRun } from './runs/run-feed.ts'
import { knownOutputsOf, runSnapshot } from './runs/run-snapshot.ts'
import type { EndFollower } from './worker/run-ends.ts'

/** The most ended runs that are read at once: reading must not take all connections. */
const READS_MAX = 4

interface FollowUpParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly settings: Pick<EngineSettings, 'runtime' | 'payloadMaxBytes' | 'log'>
  /** The runnable definitions, by the store's number. */
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  readonly start: (runs: readonly NewRun[]) => Promise<readonly StartedRun[]>
}

/**
 * Starts a follow-up for each end of a run that has end steps. Its key is made of the run and of its end, so it is started once, however often the end
 * is handed on.
 */
export function followUps(parts: FollowUpParts): EndFollower {
  const limit = pLimit(READS_MAX)
  return async (ends) => {
    const made = await limit.map(ends, (end) => followUpOf(parts, end))
    const runs = made.filter((run) => run !== undefined)
    if (runs.length > 0) await parts.start(runs)
    return []
  }
}

async function followUpOf(parts: FollowUpParts, end: RunEnd): Promise<NewRun | undefined> {
  const { followUp = null } = parts.definitions.get(end.definitionId) ?? {}
  if (followUp === null) return undefined
  const definition = await parts.registry.save(followUp)
  // The outputs of items are in those of their maps.
  const found = await readWholeRun(parts, end.runId, { outputs: false })
  // Somebody deleted its row by hand: nothing is known of it any more.
  if (found === null) return undefined
  return {
    runId: parts.settings.runtime.newId(),
    definitionId: definition.id,
    workflow: definition.name,
    key: `${end.runId}:${end.sequence}`,
    input: JSON.stringify(inputOf(found, end, parts.settings)),
    parent: { runId: end.runId, step: null },
    ...(found.run.priority === undefined ? {} : { priority: found.run.priority }),
  }
}

/** The run as it is now. An operator may have sent it forward again since it ended: then its cause and its undo are gone. */
function inputOf(
  found: SeenRun,
  { status }: RunEnd,
  { payloadMaxBytes, log }: FollowUpParts['settings'],
): FollowUpInput {
  const run = runSnapshot(found)
  const undo = undoReport(run)
  const isUndone = run.steps.some((step) => step.status === 'compensated')
  const ended: EndCase = status === 'cancelled' && isUndone ? 'cancelled_and_compensated' : status
  const outputs = knownOutputsOf(found)
  const fits = JSON.stringify(outputs).length <= payloadMaxBytes
  if (!fits) {
    log.warn('The outputs of an ended run are too large for its end steps, which get none.', {
      runId: run.id,
    })
  }
  const { id: runId, workflow, version, key, tags, input, cause } = run
  return {
    ...{ ended, runId, workflow, version, key, tags, status, input, cause, undo },
    outputs: fits ? outputs : {},
  }
}
