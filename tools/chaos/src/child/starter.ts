import type { Engine, RunHandle, RunOptions } from '@belay/workflow'
import type pg from 'pg'
import { SIGHTINGS } from '../load/features.ts'
import type { Workflows } from '../load/workflows.ts'
import { drawn } from '../random.ts'
import { closeIntent, type Intent, isCollecting } from '../world/intents.ts'
import type { World } from '../world/world.ts'
import type { Calls } from './calls.ts'
import { own, withClient } from './own-client.ts'

export interface StarterParts {
  readonly engine: Engine
  readonly pool: pg.Pool
  readonly world: World
  readonly workflows: Workflows
  readonly calls: Calls
  readonly onStarted: (intent: Intent, runId: string) => void
}

/** Starts the runs that intents want, in every possible way, until each run exists. */
export class Starter {
  started = 0
  underWay = 0
  readonly #parts: StarterParts
  readonly #taken = new Set<string>()

  constructor(parts: StarterParts) {
    this.#parts = parts
  }

  /** Resolves once the intents are closed. Skips intents that it has taken already. */
  async carryOut(given: readonly Intent[]): Promise<void> {
    const intents = given.filter(({ key }) => !this.#taken.has(key))
    if (intents.length === 0) return
    for (const { key } of intents) this.#taken.add(key)
    this.underWay += intents.length
    try {
      const [first] = intents
      const name = `start (${first!.kind})`
      const runIds = await this.#parts.calls.untilDone(name, () => this.#start(intents))
      for (const [index, intent] of intents.entries()) await this.#close(intent, runIds[index])
    } finally {
      this.underWay -= intents.length
    }
  }

  async #close(intent: Intent, runId: string | undefined): Promise<void> {
    const state = runId === undefined ? 'rolled_back' : 'started'
    await closeIntent(this.#parts.world.pool, intent.key, state, runId ?? null)
    if (runId === undefined) return
    this.started += 1
    this.#parts.onStarted(intent, runId)
  }

  async #start(intents: readonly Intent[]): Promise<readonly (string | undefined)[]> {
    const [intent] = intents
    const { engine } = this.#parts
    const { kind } = intent!
    if (intents.length > 1) {
      const runs = intents.map(({ key, input }) => ({ key, input }))
      const handles = await engine.runMany(this.#workflow(intent!), runs)
      await this.#noteJoined(handles)
      return handles.map(({ id }) => id)
    }
    if (kind === 'tx' || kind === 'rollback') return [await this.#startWithin(intent!, kind === 'tx')]
    const run = await engine.run(this.#workflow(intent!), intent!.input, optionsOf(intent!))
    await this.#noteJoined([run])
    return [run.id]
  }

  /** The documented pattern: a run and an application's row, both or neither. */
  #startWithin(intent: Intent, commits: boolean): Promise<string | undefined> {
    const { engine, pool } = this.#parts
    return withClient(pool, async (client) => {
      const options = { ...optionsOf(intent), tx: client }
      const run = await engine.run(this.#workflow(intent), intent.input, options)
      // A start repeated after a lost answer finds the run, and with it the row.
      // A collected call may join a run that is there: then nobody can tell a repeated call from a new one.
      if (run.created && !isCollecting(intent.workflow))
        await own(client, 'insert into orders (key) values ($1)', [intent.key])
      return { commits, result: commits ? run.id : undefined }
    })
  }

  async #noteJoined(handles: readonly RunHandle[]): Promise<void> {
    for (const { id, collected } of handles)
      if (collected?.joined === true) await this.#parts.world.see(SIGHTINGS.joined, id)
  }

  #workflow({ workflow, version }: Intent) {
    const { workflows } = this.#parts
    if (workflow === 'order') return version === 2 ? workflows.order2 : workflows.order1
    return workflows[workflow]
  }
}

/** Always returns the same for the same intent: a start may be repeated. */
function optionsOf({ key, input, workflow }: Intent): RunOptions {
  if (isCollecting(workflow)) return { key }
  if (workflow === 'errand') return { key, priority: input.seed % 100 }
  const drawnTime = drawn(input.seed, 'times')
  if (drawnTime < 0.06) return { key, deadline: '5s' }
  if (drawnTime < 0.12) return { key, delay: '1s' }
  return { key }
}
