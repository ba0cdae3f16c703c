import type { GraphHandlerContext } from '@belay/workflow'
import { isHeartbeat, type Published, type PublishRequest } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'

/**
 * What handlers told, and two guarantees: an outcome is recorded only once everything that its attempt told is stored, and what an attempt tells is
 * stored only while its worker holds the step.
 */
export class Told {
  readonly #broken: (violation: string) => void
  /** The latest progress that each attempt's engine has accepted, by idempotency key and attempt. */
  readonly #accepted = new Map<string, number>()
  /** The newest heartbeat that is stored of each round and direction of a step, by idempotency key. */
  readonly #beats = new Map<string, number>()
  #count = 0

  constructor(broken: (violation: string) => void) {
    this.#broken = broken
  }

  /** Called when a handler begins. What an earlier try told of the same attempt, in a transaction, was rolled back. */
  begins({ idempotencyKey, attempt, lastHeartbeat }: GraphHandlerContext<unknown>): void {
    this.#accepted.delete(markOf(idempotencyKey, attempt))
    const expected = attempt === 1 ? undefined : this.#beats.get(idempotencyKey)
    const found = lastHeartbeat as Beat | undefined
    if (found?.count !== expected || (found !== undefined && found.of !== idempotencyKey)) {
      this.#broken(
        `attempt ${attempt} of ${idempotencyKey} began with heartbeat ${JSON.stringify(found)}, and ${expected} is stored`,
      )
    }
  }

  /** Called by a handler: sends a heartbeat with details. */
  async beat({ idempotencyKey, heartbeat }: GraphHandlerContext<unknown>): Promise<void> {
    this.#count += 1
    try {
      await heartbeat({ of: idempotencyKey, count: this.#count } satisfies Beat)
    } catch {
      // The attempt is over.
    }
  }

  /** Called by a handler: tells its progress, and a value under a key that all steps of the run share. */
  async tell({ idempotencyKey, attempt, publish, progress }: GraphHandlerContext<unknown>): Promise<void> {
    this.#count += 1
    const done = this.#count
    const mark = markOf(idempotencyKey, attempt)
    try {
      await progress(done, undefined, mark)
      this.#accepted.set(mark, done)
      await publish('latest', { mark, done })
    } catch {
      // The attempt is over.
    }
  }

  /** The store took these values right now. */
  published(
    { workerId, values }: PublishRequest,
    results: readonly Published[],
    runs: readonly RunDump[],
  ): void {
    for (const [index, { runId, step, fence, key, value }] of values.entries()) {
      if (results[index] !== 'stored') continue
      if (isHeartbeat(key)) this.#stored(JSON.parse(value))
      const row = runs.find(({ run }) => run.runId === runId)?.steps.find((found) => found.step === step)
      if (row?.fence === fence && row.workerId === workerId) continue
      this.#broken(`step ${step} of run ${runId} took a value of fence ${fence} while ${row?.fence} holds it`)
    }
  }

  #stored({ of, count }: Beat): void {
    // A call that is sent again may arrive after a newer one: it changes nothing.
    this.#beats.set(of, Math.max(count, this.#beats.get(of) ?? 0))
  }

  /** The store recorded that this step's attempt completed, forward or in an undo. */
  completed({ run, steps, values }: RunDump, number: number): void {
    const { name, round, attempts, undo } = steps.find(({ step }) => step === number)!
    const effect = round === 1 ? `${run.runId}:${name}` : `${run.runId}:${name}:${round}`
    const mark = undo === null ? markOf(effect, attempts) : markOf(`${effect}:undo`, undo.attempts)
    const accepted = this.#accepted.get(mark)
    if (accepted === undefined) return
    const told = values.find(({ key, step }) => key === null && step === number)
    const { done } = JSON.parse(told?.value ?? '{}')
    if (done !== accepted) {
      this.#broken(`${mark} completed after it had told ${accepted}, but the store has ${told?.value}`)
    }
  }
}

/** The details of a heartbeat. */
interface Beat {
  readonly of: string
  readonly count: number
}

function markOf(key: string, attempt: number): string {
  return `${key}#${attempt}`
}
