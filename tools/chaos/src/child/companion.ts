import type { Engine } from '@belay/workflow'
import type pg from 'pg'
import { SIGHTINGS } from '../load/features.ts'
import { pause } from '../pause.ts'
import { drawn, type Random } from '../random.ts'
import type { Intent } from '../world/intents.ts'
import type { World } from '../world/world.ts'
import type { Calls } from './calls.ts'
import { withClient } from './own-client.ts'

export interface CompanionParts {
  readonly engine: Engine
  readonly pool: pg.Pool
  readonly world: World
  readonly calls: Calls
  readonly random: Random
}

/** What people and other systems do to runs: signals, decisions, cancellations, pauses. */
export class Companion {
  readonly #parts: CompanionParts
  #finishing: Promise<void> | undefined

  constructor(parts: CompanionParts) {
    this.#parts = parts
  }

  /** Begins what is to happen to a run. Failures are not repeated: the steps' timeouts stand in. */
  readonly accompany = (intent: Intent, runId: string): void => {
    const lot = drawn(intent.input.seed, 'company')
    const ignore = () => {}
    if (intent.workflow === 'patient') void this.#attend(intent, runId).catch(ignore)
    if (intent.workflow === 'errand' && drawn(intent.input.seed, 'urgent') < 0.3)
      void this.#hurry(runId).catch(ignore)
    if (lot < 0.08) void this.#cancel(runId).catch(ignore)
    else if (lot < 0.2) void this.#pause(runId).catch(ignore)
  }

  /** Resumes all paused runs, including those of other triggers: a killed trigger cannot resume its own. */
  async resumeAll(): Promise<void> {
    const { engine, world, calls } = this.#parts
    await world.pool.query('update pauses set resumed_at = clock_timestamp() where resumed_at is null')
    await calls.untilDone('resumeMany', () => engine.runs.resumeMany({ status: 'paused' }, { limit: 10_000 }))
  }

  /** At the end: resumes repeatedly, because pauses may be under way. */
  finish(): void {
    this.#finishing ??= this.resumeAll()
      .then(() => pause(1_000))
      .finally(() => {
        this.#finishing = undefined
      })
  }

  async #attend({ input }: Intent, runId: string): Promise<void> {
    await pause(drawn(input.seed, 'signal') * 2_000)
    if (drawn(input.seed, 'signalled') < 0.8) await this.#pay(runId, input.seed)
    await pause(drawn(input.seed, 'decision') * 2_000)
    const { engine, calls } = this.#parts
    const run = engine.runs.handle(runId)
    if (drawn(input.seed, 'decided') < 0.1)
      await calls.make('reject', () => run.reject('manager', { by: 'ann', key: `${runId}-no` }))
    else await calls.make('approve', () => run.approve('manager', { by: 'ann', key: `${runId}-yes` }))
  }

  async #pay(runId: string, seed: number): Promise<void> {
    const nonce = `${runId}-paid`
    const { engine, world, calls } = this.#parts
    const options = { key: nonce }
    const within = drawn(seed, 'signal within') < 0.4
    const send = within
      ? () => this.#payWithin(runId, nonce)
      : () => engine.runs.handle(runId).signal('paid', { nonce }, options)
    const { result } = await calls.make(within ? 'signal (tx)' : 'signal', send)
    await world.pool.query('insert into receipts (run_id, step, nonce, result) values ($1, $2, $3, $4)', [
      runId,
      'paid',
      nonce,
      result,
    ])
  }

  #payWithin(runId: string, nonce: string) {
    const { engine, pool, random } = this.#parts
    return withClient(pool, async (client) => {
      const receipt = await engine.signal(runId, 'paid', { nonce }, { key: nonce, tx: client })
      await pause(random.between(0, 150))
      return { commits: true, result: receipt }
    })
  }

  async #cancel(runId: string): Promise<void> {
    const { engine, calls, random, world } = this.#parts
    await pause(random.between(0, 600))
    const isCancelled = await calls.make('cancel', () =>
      engine.runs.handle(runId).cancel({ reason: 'changed their mind' }),
    )
    if (isCancelled) await world.see(SIGHTINGS.cancelled, runId)
  }

  async #hurry(runId: string): Promise<void> {
    const { engine, calls, random, world } = this.#parts
    const priority = random.between(100, 1_000)
    const isChanged = await calls.make('setPriority', () =>
      engine.runs.setPriority(runId, priority, { by: 'ann' }),
    )
    if (isChanged) await world.see(SIGHTINGS.hurried, runId)
  }

  async #pause(runId: string): Promise<void> {
    const { engine, calls, random, world } = this.#parts
    const run = engine.runs.handle(runId)
    await pause(random.between(0, 400))
    try {
      if (!(await calls.make('pause', () => run.pause({ by: 'ann' })))) return
      await world.see(SIGHTINGS.paused, runId)
      const { status, steps } = await run.status()
      const atRest = status === 'paused' && !steps.some((step) => step.status === 'running')
      if (atRest) await world.pool.query('insert into pauses (run_id) values ($1)', [runId])
      await pause(random.between(200, 900))
      await world.pool.query(
        'update pauses set resumed_at = clock_timestamp() where run_id = $1 and resumed_at is null',
        [runId],
      )
    } finally {
      await calls.untilDone('resume', () => run.resume({ by: 'ann' }).catch(unlessOver))
    }
  }
}

/** Ignores refusals: a run that has ended, is being undone or was pruned needs no resumption. */
function unlessOver(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'action_refused' || code === 'unknown_run') return false
  throw error
}
