import type { Adapter, Claim, Outcome, Settlement, SlotHolder } from '@belay/workflow/adapter'
import type { Graph } from './graph.ts'
import { compensated, completed, failed } from './outcomes.ts'
import type { CaseRun } from './run.ts'

/** More than any case has to claim. */
export const UNLIMITED = 100_000

/** A worker that remembers its newest claim of each step, even after its lease has expired: some cases need zombies. */
export class CaseWorker {
  readonly id: string
  readonly adapter: Adapter
  readonly #graphs: readonly Graph[]
  readonly #keepsAttempts: boolean
  readonly #claims = new Map<string, Claim>()

  /** `graphs` may grow while the worker lives. */
  constructor(adapter: Adapter, id: string, graphs: readonly Graph[], keepsAttempts = false) {
    this.adapter = adapter
    this.id = id
    this.#graphs = graphs
    this.#keepsAttempts = keepsAttempts
  }

  /** Without inputs, which a store need not include. */
  async claim(limit = UNLIMITED, graphs = this.#graphs): Promise<readonly Claim[] | 'lost'> {
    const definitionIds = graphs.map(({ id }) => id)
    const claimed = await this.adapter.claim({ workerId: this.id, definitionIds, limit })
    return claimed === 'lost' ? claimed : claimed.claims.map(withoutInput)
  }

  /** Claims as a live worker does, and remembers the claims. */
  async take(limit = UNLIMITED): Promise<readonly Claim[]> {
    const claims = await this.claim(limit)
    if (claims === 'lost') throw new Error(`Worker ${this.id} was lost while claiming.`)
    return this.#remember(claims)
  }

  /** Claims of these steps, remembered or taken now. */
  async claimsOf(run: CaseRun, ...names: readonly string[]): Promise<readonly Claim[]> {
    if (names.some((name) => !this.#claims.has(keyOf(run, name)))) await this.take()
    return names.map((name) => {
      const claim = this.#claims.get(keyOf(run, name))
      if (claim === undefined) throw new Error(`Worker ${this.id} could not claim step ${name} of ${run.id}.`)
      return claim
    })
  }

  async claimOf(run: CaseRun, name: string): Promise<Claim> {
    return (await this.claimsOf(run, name))[0]!
  }

  /** Settles attempts that entered limits: their slots are freed. */
  async settleAndFree(...outcomes: readonly Outcome[]): Promise<Settlement> {
    return this.settle(outcomes, 0, outcomes)
  }

  /** Settles. Takes no steps back unless `handBackMax` is given. */
  async settle(
    outcomes: readonly Outcome[],
    handBackMax = 0,
    frees?: readonly SlotHolder[],
  ): Promise<Settlement> {
    const keepAttempts = this.#keepsAttempts
    const workerId = this.id
    const settlement = await this.adapter.settle({ workerId, outcomes, handBackMax, keepAttempts, frees })
    for (const { runId, step } of outcomes) this.#forget(runId, step)
    this.#remember(settlement.claims)
    return settlement
  }

  async complete(run: CaseRun, ...names: readonly string[]): Promise<Settlement> {
    return this.settle((await this.claimsOf(run, ...names)).map((claim) => completed(claim)))
  }

  async fail(run: CaseRun, name: string): Promise<Settlement> {
    return this.settle([failed(await this.claimOf(run, name))])
  }

  async compensate(run: CaseRun, ...names: readonly string[]): Promise<Settlement> {
    return this.settle((await this.claimsOf(run, ...names)).map(compensated))
  }

  held(): Promise<readonly Claim[]> {
    return this.adapter.held({ workerId: this.id })
  }

  #remember(claims: readonly Claim[]): readonly Claim[] {
    for (const claim of claims) this.#claims.set(`${claim.runId}/${claim.step}`, claim)
    return claims
  }

  #forget(runId: string, step: number): void {
    this.#claims.delete(`${runId}/${step}`)
  }
}

function keyOf(run: CaseRun, name: string): string {
  return `${run.id}/${run.graph.numberOf(name)}`
}

/** A claim with only what every store includes. */
export function withoutInput({ input: _input, item: _item, waitedMs: _waitedMs, ...claim }: Claim): Claim {
  return claim
}
