import { SIGHTINGS } from '../load/features.ts'
import { EACH_SECOND, SCHEDULES } from '../load/flow.ts'
import { pause } from '../pause.ts'
import type { Random } from '../random.ts'
import type { Stage } from './stage.ts'

const PAUSE_MS = 2_000
const REST_MS = 500
/** Those that may rest: not the one that leaves no second out. */
const PAUSABLE = SCHEDULES.filter((name) => name !== EACH_SECOND)
/** A pass of the seconds before. */
const BACK_MS = 10_000

/** The operator of the schedules during the load: triggers, pauses and backfills them. Calls that fail are not repeated. */
export class Planner {
  readonly #stage: Stage
  readonly #random: Random
  #isOver = false
  #working: Promise<void> | undefined

  constructor(stage: Stage, random: Random) {
    this.#stage = stage
    this.#random = random
  }

  start(): void {
    this.#working = this.#work()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#working
  }

  async #work(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      await this.#plan(turn).catch(() => {})
      await pause(PAUSE_MS / 2 + this.#random.pauseMs(PAUSE_MS / 2))
    }
  }

  async #plan(turn: number): Promise<void> {
    const { engine } = this.#stage
    const name = this.#random.pick(PAUSABLE)
    if (turn % 3 === 0) {
      await engine.schedules.trigger(name)
      return this.#see(SIGHTINGS.triggered)
    }
    if (turn % 3 === 1) {
      const to = new Date(Date.now() - BACK_MS)
      await engine.schedules.backfill(name, { from: new Date(to.getTime() - BACK_MS / 2), to })
      return this.#see(SIGHTINGS.backfilled)
    }
    if (!(await engine.schedules.pause(name, { reason: 'a rest' }))) return
    await pause(REST_MS)
    await engine.schedules.resume(name)
    await this.#see(SIGHTINGS.rested)
  }

  async #see(what: string): Promise<void> {
    await this.#stage.world.query('insert into sightings (what, run_id) values ($1, $2)', [what, NOBODY])
  }
}

const NOBODY = '00000000-0000-0000-0000-000000000000'

const LOOK_MS = 100

/** Pauses all schedules once they have caught up, so that their last runs can end. Resolves to those that it could not pause in time. */
export async function endSchedules(
  { engine, database }: Stage,
  withinMs: number,
): Promise<readonly string[]> {
  const end = performance.now() + withinMs
  let left: readonly string[] = SCHEDULES
  while (left.length > 0 && performance.now() < end) {
    const { rows } = await database
      .query<{ name: string }>(BEHIND)
      .catch(() => ({ rows: SCHEDULES.map((name) => ({ name })) }))
    const behind = new Set(rows.map(({ name }) => name))
    const paused = await Promise.all(
      left.map((name) =>
        behind.has(name)
          ? false
          : engine.schedules.pause(name).then(
              () => true,
              () => false,
            ),
      ),
    )
    left = left.filter((_, index) => !paused[index])
    await pause(LOOK_MS)
  }
  return left.map((name) => `The schedule ${name} had not caught up ${withinMs} ms after the last fault.`)
}

const BEHIND = `
select name from belay.workflow_schedules s where due_at < now() - interval '1 second'
  or exists (select from belay.workflow_firings f where f.schedule = s.name and f.is_open and f.status = 'queued')`
