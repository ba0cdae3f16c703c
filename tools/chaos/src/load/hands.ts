import type { StepContext } from '@belay/workflow'
import { PermanentError } from '@belay/workflow'
import type { PostgresStepTransaction } from '@belay/workflow-postgres'
import { pause, until } from '../pause.ts'
import { drawn } from '../random.ts'
import type { CallOf, World } from '../world/world.ts'
import { SIGHTINGS, type Sighting, WRONG_HEARTBEAT } from './features.ts'
import type { Input } from './input.ts'
import { BAD_PHOTO, planOf } from './plan.ts'

export type Call = Pick<
  StepContext<Input, unknown>,
  'runId' | 'step' | 'input' | 'attempt' | 'idempotencyKey' | 'signal'
>

type Beating = Call & Pick<StepContext, 'heartbeat' | 'lastHeartbeat'>
type Telling = Pick<Call, 'attempt'> & Pick<StepContext, 'publish'>
type Ending = Omit<Call, 'input'> & { readonly status: string; readonly input: unknown }

const BEATS = 3
/** The silence ends when the signal fires. Longer than any limit of the engine. */
const SILENT_MS = 20_000
const TRANSIENT = 0.12
/** From this attempt on nothing fails by chance, so that the retries are enough. */
const CALM_FROM = 3
export const CHARGE_TIMEOUT_MS = 700

/** What handlers do to the world and to the ledger. Knows which handlers are running in this process. */
export class Hands {
  /** `run:step` of every running handler. */
  readonly active = new Set<string>()
  readonly #world: World

  /** A step with an effect, which its compensation undoes. */
  readonly deed = {
    compensateOn: 'started',
    run: (call: Call) => this.effect(call),
    compensate: (call: Call) => this.effect(call, true),
  } as const

  constructor(world: World) {
    this.#world = world
  }

  /** An effect on the world. By chance it fails before or after the effect. All that takes time is `work`: a handler notes its beginning first. */
  effect(call: Call, undo = false, work = () => pause(this.#ms(call))): Promise<{ key: string }> {
    return this.#within(call, async () => {
      const callId = await this.#world.begin(call, undo)
      return this.#ending(call, callId, async () => {
        await work()
        this.#failByChance(call, 'before')
        // A handler that checks its signal makes no effect after its lease, its timeout or its run has ended.
        call.signal.throwIfAborted()
        await this.#world.effect(call, undo, callId)
        this.#failByChance(call, 'after')
        return { key: call.idempotencyKey }
      })
    })
  }

  /** Notes when the handler ended, or when its attempt was taken from it: from then on its slots are not its own. */
  async #ending<Result>({ signal }: Call, callId: string, part: () => Promise<Result>): Promise<Result> {
    let abortedAt: Date | undefined
    const abort = () => {
      abortedAt ??= new Date()
    }
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await part()
    } finally {
      signal.removeEventListener('abort', abort)
      await this.#world.end(callId, abortedAt ?? new Date())
    }
  }

  /** Notes something that leaves no effect. */
  see(what: Sighting, runId: string): Promise<void> {
    return this.#world.see(what, runId)
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
    if (call.input.parks && !(await this.#world.isRepaired(call.runId, 'undo')))
      throw new PermanentError('Somebody has to repair this first.')
    return this.effect(call, true)
  }

  /** Fails for good if the input says so, until an operator has repaired it. */
  async failIfAsked({ input, runId }: Pick<Call, 'input' | 'runId'>): Promise<void> {
    if (input.fails && !(await this.#world.isRepaired(runId, 'run')))
      throw new PermanentError('The input says that this run fails.')
  }

  /** A payment that may fail for good, without an effect. */
  effectUnlessDeclined(call: Call): Promise<{ key: string }> {
    return this.effect(call, false, async () => {
      await pause(this.#ms(call))
      if (planOf(call.input).declines) throw new PermanentError('The card was declined.')
    })
  }

  /** The pivot: without an effect, it fails for good if the input says so. */
  effectUnlessFailing(call: Call): Promise<{ key: string }> {
    return this.effect(call, false, async () => {
      await pause(this.#ms(call))
      await this.failIfAsked(call)
    })
  }

  /** The step after a pivot: it may fail for good until an operator has repaired it. */
  recordUnlessBroken(call: Call): Promise<{ key: string }> {
    return this.effect(call, false, async () => {
      await pause(this.#ms(call))
      if (planOf(call.input).afterPivot !== 'works' && !(await this.#world.isRepaired(call.runId, 'step')))
        throw new PermanentError('The books are closed.')
    })
  }

  /** An effect of a handler that sends heartbeats. For some inputs the first attempt falls silent. */
  effectWithHeartbeats(call: Beating): Promise<{ key: string }> {
    return this.effect(call, false, async () => {
      await this.#resume(call)
      for (let done = 1; done <= BEATS; done += 1) {
        await pause(this.#ms(call) / BEATS)
        call.signal.throwIfAborted()
        await call.heartbeat({ runId: call.runId, attempt: call.attempt, done })
      }
      if (planOf(call.input).fallsSilent && call.attempt === 1)
        await until(SILENT_MS, 20, () => call.signal.aborted)
    })
  }

  /** Only a later attempt of the same step gets what an earlier one has sent. */
  async #resume({ runId, attempt, lastHeartbeat }: Beating): Promise<void> {
    if (lastHeartbeat === undefined) return
    const sent = lastHeartbeat as { readonly runId: string; readonly attempt: number; readonly done: number }
    const isRight = sent.runId === runId && sent.attempt < attempt && sent.done >= 1 && sent.done <= BEATS
    await this.#world.see(isRight ? SIGHTINGS.resumed : WRONG_HEARTBEAT, runId)
  }

  /** One undo for all items of a map. Each of them has an undo of its own in the world. */
  undoItems(call: Call & { readonly items: readonly { readonly itemKey: string }[] }): Promise<void> {
    return this.#within(call, async () => {
      const items = call.items.filter(
        // With this one nothing has been done.
        ({ itemKey }) => !(planOf(call.input).hasBadPhoto && itemKey === BAD_PHOTO),
      )
      const undos = items.map(({ itemKey }) => undoOfItem(call, itemKey))
      // All of them begin when the handler is entered.
      const callIds = await Promise.all(undos.map((undo) => this.#world.begin(undo, true)))
      this.#failByChance(call, 'undo')
      await pause(this.#ms(call))
      call.signal.throwIfAborted()
      for (const [index, undo] of undos.entries()) await this.#world.effect(undo, true, callIds[index]!)
    })
  }

  /** Gives the run a value that tells which attempt gave it. */
  async published<Digest extends object>(call: Telling, digest: Digest): Promise<Digest> {
    await call.publish('digest', { ...digest, attempt: call.attempt })
    return digest
  }

  /** The handler of all end steps. Its effect is one of the follow-up. */
  readonly endStep = async (call: Ending): Promise<{ of: string; status: string }> => {
    const { step, attempt, signal, idempotencyKey, runId, status } = call
    const input = call.input as Input
    await this.effect({ step, attempt, signal, idempotencyKey, input, runId: idempotencyKey.split(':')[0]! })
    return { of: runId, status }
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

function undoOfItem({ runId, attempt, step, idempotencyKey }: Call, itemKey: string): CallOf {
  const ofItem = (text: string) => text.replace('[]', `[${itemKey}]`)
  return { runId, attempt, step: ofItem(step), idempotencyKey: ofItem(idempotencyKey) }
}
