import type { CollectedStart, StartOptions } from '@belay/workflow'
import type { CollectedRun, NewCall } from '@belay/workflow/adapter'
import type { RunDump } from '../invariants/index.ts'
import type { Random } from './random.ts'
import type { Violations } from './violations.ts'

/** What a simulated call carries: a number of its own. */
export interface CallInput {
  readonly n: number
  readonly key: string
}

/** How a world's workflow collects its starts. */
export function randomStart(random: Random): StartOptions<unknown> {
  return random.pick<StartOptions<unknown>>([
    { debounce: 2_000, max: 6_000, key: 'key' },
    { throttle: 4_000, key: 'key' },
    { batch: { max: 4, within: 3_000 }, key: 'key' },
  ])
}

interface ToldCall {
  readonly n: number
  readonly runId: string
  readonly collected: CollectedStart
}

/** The calls of a world, and what their callers were told. */
export class CollectedCalls {
  readonly #told: ToldCall[] = []
  /** Calls whose answers were lost, or whose transactions may not have been committed. */
  readonly #doubtful = new Set<number>()
  /** When the first call of each run came, store clock. */
  readonly #openedAt = new Map<string, number>()
  #sent = 0

  /** The number of the next call. */
  next(): number {
    this.#sent += 1
    this.#doubtful.add(this.#sent)
    return this.#sent
  }

  told(n: number, run: { readonly id: string; readonly collected?: CollectedStart | undefined }): void {
    this.#doubtful.delete(n)
    this.#told.push({ n, runId: run.id, collected: run.collected! })
  }

  /** The store has collected these calls right now, outside of transactions: no run has more of them, or waits for longer, than its policy says. */
  answered(
    calls: readonly NewCall[],
    answers: readonly CollectedRun[],
    { now, violations }: { readonly now: number; readonly violations: Violations },
  ): void {
    for (const [index, { runId, created, repeated, position, beginsAt }] of answers.entries()) {
      const { windowMs, limitMs, callsMax } = calls[index]!.policy
      if (repeated) continue
      if (created) this.#openedAt.set(runId, now)
      if (callsMax !== null && position > callsMax)
        violations.add(`run ${runId} took call ${position} of at most ${callsMax}`)
      const openedAt = this.#openedAt.get(runId)
      const latest =
        openedAt === undefined ? Number.POSITIVE_INFINITY : openedAt + (limitMs ?? Number.POSITIVE_INFINITY)
      if (beginsAt > Math.min(latest, now + windowMs))
        violations.add(
          `run ${runId} waits until ${beginsAt}, and its calls until ${Math.min(latest, now + windowMs)}`,
        )
    }
  }

  get count(): number {
    return this.#sent
  }

  /**
   * Checks that every call that was told is in its run and in no other: a batch has it at its place, and another run has the input of its last call.
   * A run whose last call is doubtful may have that one's.
   */
  check(runs: readonly RunDump[], violations: Violations): void {
    const found = new Map(runs.map(({ run }) => [run.runId, run]))
    for (const { n, runId, collected } of this.#told) {
      const run = found.get(runId)
      // Operators do not prune runs of this workflow.
      if (run === undefined) {
        violations.add(`call ${n} was told that run ${runId} has it, which is not there`)
        continue
      }
      const input = JSON.parse(run.input ?? 'null') as CallInput | readonly CallInput[]
      const where = `call ${n} of run ${runId}`
      if (collected.by === 'batch') {
        const items = input as readonly CallInput[]
        if (items[collected.calls - 1]?.n !== n) violations.add(`${where} is not at place ${collected.calls}`)
        if (items.filter((item) => item.n === n).length !== 1) violations.add(`${where} is there twice`)
      } else if (!this.#mayBeLast((input as CallInput).n, runId))
        violations.add(`run ${runId} has the input of call ${(input as CallInput).n}, which was not its last`)
    }
    this.#checkOnce(runs, violations)
    this.#checkPlaces(violations)
  }

  /** No two calls of a run have one place in it. */
  #checkPlaces(violations: Violations): void {
    const places = this.#told.map(({ runId, collected }) => `${runId} ${collected.calls}`)
    for (const place of places.filter((one, index) => places.indexOf(one) !== index))
      violations.add(`two calls are at one place of their run: ${place}`)
  }

  #mayBeLast(n: number, runId: string): boolean {
    const own = this.#told.filter((call) => call.runId === runId)
    const last = own.reduce((one, other) => (other.collected.calls > one.collected.calls ? other : one))
    return last.n === n || this.#doubtful.has(n)
  }

  /** No call is in two batches. */
  #checkOnce(runs: readonly RunDump[], violations: Violations): void {
    const seen = new Set<number>()
    for (const { run } of runs) {
      const input: unknown = JSON.parse(run.input ?? 'null')
      for (const { n } of Array.isArray(input) ? (input as readonly CallInput[]) : []) {
        if (seen.has(n)) violations.add(`call ${n} is in run ${run.runId} and in another one`)
        seen.add(n)
      }
    }
  }
}
