import type { StepContext } from '@belay/workflow'
import { PermanentError } from '@belay/workflow'
import type { PostgresStepTransaction } from '@belay/workflow-postgres'
import { pause } from '../pause.ts'
import { drawn } from '../random.ts'
import type { World } from '../world/world.ts'
import type { Input } from './input.ts'

export type Call = Pick<
  StepContext<Input, unknown>,
  'runId' | 'step' | 'input' | 'attempt' | 'idempotencyKey' | 'signal'
>

const TRANSIENT = 0.12
/** From this attempt on nothing fails by chance, so that the retries are enough. */
const CALM_FROM = 3
export const CHARGE_TIMEOUT_MS = 700

/** What handlers do to the world and to the ledger. Knows which handlers are running in this process. */
export class Hands {
  /** `run:step` of every running handler. */
  readonly active = new Set<string>()
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** An effect on the world. By chance it fails before or after the effect. */
  effect(call: Call, undo = false): Promise<{ key: string }> {
    return this.#within(call, async () => {
      const callId = await this.#world.begin(call, undo)
      await pause(this.#ms(call))
      this.#failByChance(call, 'before')
      // A handler that checks its signal makes no effect after its lease, its timeout or its run has ended.
      call.signal.throwIfAborted()
      await this.#world.effect(call, undo, callId)
      this.#failByChance(call, 'after')
      return { key: call.idempotencyKey }
    })
  }

  /** The same, but for some inputs the first attempt takes longer than the step's timeout. */
  async slowEffect(call: Call): Promise<{ key: string }> {
    const tooLong = call.input.slow && call.attempt === 1
    return this.effect(
      tooLong ? { ...call, input: { ...call.input, handlerMs: 4 * CHARGE_TIMEOUT_MS } } : call,
    )
  }

  /** An undo that fails for good until the run was repaired. */
  async undoUnlessParked(call: Call): Promise<unknown> {
    if (call.input.parks && !(await this.#world.isRepaired(call.runId)))
      throw new PermanentError('Somebody has to repair this first.')
    return this.effect(call, true)
  }

  /** Both sides of one entry in the ledger. Only the step's own transaction ensures that they are written once. */
  entry(
    call: Call & { readonly tx: PostgresStepTransaction },
    account: number,
    cents: number,
  ): Promise<void> {
    return this.#within(call, async () => {
      const { client } = call.tx
      await client.query(
        'insert into entries (run_id, step, key, account, cents) values ($1, $2, $3, $4, $5)',
        [call.runId, call.step, call.idempotencyKey, account, cents],
      )
      await client.query('update accounts set cents = cents + $1 where id = $2', [cents, account])
      await pause(this.#ms(call) / 4)
      this.#failByChance(call, 'ledger')
    })
  }

  /** Work without an effect. */
  work(call: Call): Promise<void> {
    return this.#within(call, async () => {
      await pause(this.#ms(call))
      this.#failByChance(call, 'work')
    })
  }

  /** Returns true after a few looks. */
  async look({ input, runId, step }: Call): Promise<boolean> {
    const looks = (this.#looks.get(runId) ?? 0) + 1
    this.#looks.set(runId, looks)
    const enough = looks > Math.floor(drawn(input.seed, step) * 4)
    if (enough) this.#looks.delete(runId)
    return enough
  }

  readonly #looks = new Map<string, number>()

  #ms({ input, step, attempt }: Call): number {
    return input.handlerMs * (0.2 + drawn(input.seed, `${step} takes ${attempt}`) * 0.8)
  }

  #failByChance({ input, step, attempt }: Call, where: string): void {
    if (attempt >= CALM_FROM) return
    if (drawn(input.seed, `${step} ${where} ${attempt}`) < TRANSIENT)
      throw new Error(`A passing failure ${where} the effect.`)
  }

  async #within<Result>({ runId, step }: Call, part: () => Promise<Result>): Promise<Result> {
    const id = `${runId}:${step}`
    this.active.add(id)
    try {
      return await part()
    } finally {
      this.active.delete(id)
    }
  }
}
