import { summarised, type Violation } from '../oracle/violation.ts'
import { pause } from '../pause.ts'
import { openIntents } from '../world/intents.ts'
import { LEFT } from './collect-flow.ts'
import { repairParked, retryUndone } from './operator.ts'
import { endSchedules } from './planner.ts'
import type { Stage } from './stage.ts'

const LOOK_MS = 300
const EXPLAINED_MAX = 5

/** Heals everything, lets every worker run every version, and waits for rest. Nothing new is started meanwhile. */
export async function settleDown(stage: Stage, withinMs: number): Promise<readonly Violation[]> {
  const { fleet } = stage
  for (const seat of fleet.seats) {
    await seat.proxy.heal()
    seat.child?.tell({ type: 'name', found: true })
  }
  // Runs of version 2 need a worker, whichever one leaves. If no worker was upgraded, there is no such run.
  const mixed = fleet.workers.some(({ version }) => version === 'both')
  const late: string[] = []
  for (const seat of fleet.workers.filter(({ version }) => mixed && version === 'v1')) {
    seat.version = 'both'
    if (!(await fleet.vacate(seat))) late.push(`${seat.child?.name} did not leave when it was upgraded.`)
    fleet.seat(seat)
  }
  const behind = await endSchedules(stage, withinMs)
  return [
    ...summarised('close_hangs', late),
    ...summarised('firings', behind),
    ...(await comeToRest(stage, withinMs)),
  ]
}

/** Waits until every wanted run has ended; meanwhile an operator repairs parked runs. Resolves to what has not ended in time. */
async function comeToRest(stage: Stage, withinMs: number): Promise<readonly Violation[]> {
  const end = performance.now() + withinMs
  for (;;) {
    await repairParked(stage).catch(() => {})
    await retryUndone(stage).catch(() => {})
    const open = await openRuns(stage)
    const wanted = await openIntents(stage.world)
    if (
      open.length === 0 &&
      wanted.length === 0 &&
      (await hasToldAllEnds(stage)) &&
      (await hasFreedLimits(stage))
    )
      return []
    if (performance.now() > end) {
      const sentences = [
        ...wanted.map(({ key, kind }) => `The start with key ${key} (${kind}) has not ended.`),
        ...(await explained(stage, open)),
        ...((await hasToldAllEnds(stage))
          ? []
          : ['Nobody has done yet what follows from the ends of some runs.']),
      ]
      return summarised('not_at_rest', sentences, 2 * EXPLAINED_MAX)
    }
    await pause(LOOK_MS)
  }
}

async function openRuns({ database }: Stage): Promise<readonly string[]> {
  const { rows } = await database.query<{ id: string }>(
    'select id from belay.workflow_runs where finished_at is null order by id',
  )
  return rows.map(({ id }) => id)
}

/** A follow-up or a parent's wake-up may be outstanding though no run is open. */
async function hasToldAllEnds({ database }: Stage): Promise<boolean> {
  const { rowCount } = await database.query('select from belay.workflow_run_ends limit 1')
  return rowCount === 0
}

/** Workers look for slots that dead ones have left. What is still there later is judged. */
async function hasFreedLimits({ database }: Stage): Promise<boolean> {
  const { rowCount } = await database.query(LEFT)
  return rowCount === 0
}

async function explained({ engine }: Stage, open: readonly string[]): Promise<readonly string[]> {
  const shown = await Promise.all(
    open.slice(0, EXPLAINED_MAX).map(async (id) => {
      const { sentence, steps } = await engine.explain(id)
      return [
        sentence,
        ...steps.filter(({ reason }) => reason !== 'dependency').map((step) => step.sentence),
      ].join(' ')
    }),
  )
  return open.length <= EXPLAINED_MAX
    ? shown
    : [...shown, ...open.slice(EXPLAINED_MAX).map((id) => `Run ${id} is not over.`)]
}
