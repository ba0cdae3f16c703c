import type { EntryFacts, Facts, RunFacts, Span, StepFacts } from '../oracle/facts.ts'
import { flowFacts } from './collect-flow.ts'
import { rows } from './rows.ts'
import type { ArchivedRun, Stage } from './stage.ts'

/** Reads all that the oracle judges. Everything is at rest, and no more faults happen to the server. */
export async function collectFacts(stage: Stage, troubles: readonly Span[]): Promise<Facts> {
  const { database, world } = stage
  const stored = await storedRuns(stage)
  const known = new Set(stored.map(({ id }) => id))
  // If a run was archived but its deletion was not committed, the run still exists.
  const archived = [...stage.archive.values()].filter((run) => !known.has(run.id))
  const epoch = (column: string) => `extract(epoch from ${column})::float8 * 1000`
  return {
    runs: [...stored, ...archived.map(archivedRun)],
    intents: await rows(world, 'select key, workflow, kind, state, run_id as "runId" from intents'),
    orders: (await rows<{ key: string }>(database, 'select key from orders')).map(({ key }) => key),
    entries: await rows<EntryFacts>(
      database,
      'select run_id as "runId", step, key, account, cents::float8 as cents from entries',
    ),
    accounts: await rows(database, 'select id, cents::float8 as cents from accounts order by id'),
    calls: await rows(
      world,
      `select id, key, run_id as "runId", step, undo, attempt, worker, ${epoch('began_at')} as "beganAt",
         ${epoch('ended_at')} as "endedAt" from calls`,
    ),
    effects: await rows(
      world,
      `select key, run_id as "runId", step, undo, call_id as "callId", ${epoch('at')} as at from effects`,
    ),
    sightings: await rows(world, 'select what, run_id as "runId" from sightings'),
    receipts: await rows(world, 'select run_id as "runId", step, nonce, result from receipts'),
    pauses: await rows(
      world,
      `select run_id as "runId", ${epoch('paused_at')} as "pausedAt", ${epoch('resumed_at')} as "resumedAt" from pauses`,
    ),
    ...(await flowFacts(stage)),
    freezes: freezesOf(stage),
    troubles,
  }
}

function freezesOf({ fleet }: Stage): ReadonlyMap<string, readonly Span[]> {
  return new Map(
    fleet.children.map(({ name, freezes }) => [
      name,
      freezes.map(({ from, to }) => ({ from: from.getTime(), to: (to ?? new Date()).getTime() })),
    ]),
  )
}

async function storedRuns({ database }: Stage): Promise<readonly RunFacts[]> {
  const runs = await rows<Omit<RunFacts, 'steps'>>(
    database,
    `select o.run_id as id, o.workflow, o.version, o.key, o.status, o.stop, extract(epoch from o.created_at)::float8 * 1000 as "createdAt",
       r.input, o.parent_run_id as "parentId",
       (select v.value from belay.workflow_values v where v.run_id = r.id and v.key = 'digest') as digest
     from belay.workflow_run_overview o join belay.workflow_runs r on r.id = o.run_id`,
  )
  const steps = await rows<StepFacts & { readonly runId: string }>(
    database,
    `select run_id as "runId", name, status, undo_of as "undoOf", round, attempt, failures, losses, output, error,
       extract(epoch from finished_at)::float8 * 1000 as "finishedAt"
     from belay.workflow_step_overview order by run_id, step`,
  )
  const byRun = new Map<string, StepFacts[]>()
  for (const { runId, ...step } of steps) {
    const found = byRun.get(runId)
    if (found === undefined) byRun.set(runId, [step])
    else found.push(step)
  }
  return runs.map((run) => ({ ...run, steps: byRun.get(run.id) ?? [] }))
}

/** A run from what `archive` got. That does not say what state the undo began in: a step with an output had completed. */
function archivedRun(run: ArchivedRun): RunFacts {
  return {
    id: run.id,
    workflow: run.workflow,
    version: run.version,
    key: run.key ?? null,
    status: run.status,
    stop: run.cause === undefined ? null : 'unknown',
    createdAt: run.createdAt.getTime(),
    input: run.input,
    parentId: run.parentId ?? null,
    digest: run.values['digest'] ?? null,
    steps: run.steps.map((step) => ({
      name: step.name,
      status: step.status,
      undoOf: step.status === 'compensated' ? 'unknown' : null,
      round: step.round,
      attempt: step.attempts,
      failures: step.failures,
      losses: step.losses,
      output: step.output,
      error: step.error ?? null,
      finishedAt: step.finishedAt?.getTime() ?? null,
    })),
  }
}
