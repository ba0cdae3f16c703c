import { SIGHTINGS, type Sighting } from '../load/features.ts'
import type { Input } from '../load/input.ts'
import { planOf } from '../load/plan.ts'
import { pause } from '../pause.ts'
import type { Repair } from '../world/world.ts'
import type { Stage } from './stage.ts'

const LOOK_MS = 1_000
const BY = { by: 'ann', reason: 'repaired' }

/** The operator during the load: repairs parked runs, and retries some of those that were undone. Calls that fail are repeated at the next look. */
export class Operator {
  readonly #stage: Stage
  #isOver = false
  #working: Promise<void> | undefined

  constructor(stage: Stage) {
    this.#stage = stage
  }

  start(): void {
    this.#working = this.#work()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  async #work(): Promise<void> {
    while (!this.#isOver) {
      await repairParked(this.#stage).catch(() => {})
      await retryUndone(this.#stage).catch(() => {})
      await pause(LOOK_MS)
    }
  }
}

interface Found {
  readonly runId: string
  readonly name: string
  readonly status: string
  readonly input: Input
}

/** What an operator does about parked runs: repairs the cause, then retries the compensation or the step, or skips the step. */
export async function repairParked(stage: Stage): Promise<void> {
  const { rows } = await stage.database.query<Found>(PARKED)
  for (const found of rows) {
    const run = stage.engine.runs.handle(found.runId)
    if (found.status === 'compensation_failed') {
      await repair(stage, found.runId, 'undo')
      await run.retryCompensation(found.name, BY)
    } else if (found.name === 'record' && planOf(found.input).afterPivot === 'is skipped') {
      await run.skipStep(found.name, { ...BY, output: { key: 'by hand' } })
      await see(stage, SIGHTINGS.skippedStep, found.runId)
    } else {
      await repair(stage, found.runId, 'step')
      await run.retryStep(found.name, BY)
      await see(stage, SIGHTINGS.retriedStep, found.runId)
    }
  }
}

/** What an operator does about a failed run once its cause is repaired. */
export async function retryUndone(stage: Stage): Promise<void> {
  const { rows } = await stage.database.query<{ runId: string; input: Input }>(UNDONE)
  for (const { runId, input } of rows) {
    if (!planOf(input).isRetried || !(await repair(stage, runId, 'run'))) continue
    // Noted before: if the answer is lost, nobody knows whether the run was retried.
    await see(stage, SIGHTINGS.retriedRun, runId)
    await stage.engine.runs.handle(runId).retry(BY)
  }
}

/** Resolves to whether this was the first time. */
async function repair({ world }: Stage, runId: string, what: Repair): Promise<boolean> {
  const { rowCount } = await world.query(
    'insert into repairs (run_id, what) values ($1, $2) on conflict do nothing',
    [runId, what],
  )
  return rowCount === 1
}

async function see({ world }: Stage, what: Sighting, runId: string): Promise<void> {
  await world.query('insert into sightings (what, run_id) values ($1, $2)', [what, runId])
}

const PARKED = `
select s.run_id as "runId", s.name, s.status, r.input
from belay.workflow_runs r join belay.workflow_step_overview s on s.run_id = r.id
where r.finished_at is null
  and (r.status = 'compensation_failed' and s.status = 'compensation_failed'
    or r.status = 'running' and s.status = 'failed' and belay.shown_status(r.id, r.status, r.start_at) = 'parked'
      and s.name in ('record', 'thank'))`

const UNDONE = `
select id as "runId", input from belay.workflow_runs
where status = 'compensated' and finished_at > now() - interval '20 s' and workflow in ('gallery', 'checkout')`
