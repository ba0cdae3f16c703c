import { participleOf } from '@belay/graph-view'
import { notFound, RequestError } from '../problem.ts'
import type { RepairInHand } from './in-hand.ts'
import { runs } from './words.ts'

const KEPT_MAX = 200
/** They hold the ids of their runs until somebody begins them. */
const COUNTED_MAX = 20
const KEPT_MS = 24 * 3_600_000
/** Each reads or writes one run after the other, beside whatever else the store does. */
const UNDER_WAY_MAX = 8

/** The repairs of this process. */
export class Repairs {
  /** The oldest first. */
  readonly #all = new Map<string, RepairInHand>()

  /** The newest first. */
  list(): readonly RepairInHand[] {
    this.#forget()
    return [...this.#all.values()].reverse()
  }

  /** Throws `RequestError` with status 404. */
  get(id: string): RepairInHand {
    this.#forget()
    const repair = this.#all.get(id)
    if (repair !== undefined) return repair
    throw notFound(
      'This process of the dashboard does not know that repair: another process has it, this one was restarted since, or it ended more than a day ago. What was done to a run stands in the history of that run: who, when and why.',
    )
  }

  /** Throws `RequestError` with status 409 if too many are under way. */
  add(repair: RepairInHand): void {
    const underWay = [...this.#all.values()].filter((one) => one.isUnderWay)
    if (underWay.length >= UNDER_WAY_MAX) {
      throw conflict(`${UNDER_WAY_MAX} repairs are under way. Wait until one of them has ended, or stop one.`)
    }
    this.#all.set(repair.id, repair)
    this.#forget()
  }

  /** Others that are changing runs which this one found too. */
  besides(repair: RepairInHand): readonly { readonly id: string; readonly sentence: string }[] {
    if (repair.state !== 'counted') return []
    return [...this.#all.values()].flatMap((other) => {
      const shared = other.state === 'working' ? other.shares(repair) : 0
      if (shared === 0) return []
      const who = `${other.begun!.by} is changing ${runs(other.found.changed)}, which are ${participleOf(other.asked)}`
      return [{ id: other.id, sentence: `${who}: ${shared} of them are also here.` }]
    })
  }

  /** Throws `RequestError` with status 409 if this repair cannot begin now. */
  assertCanBegin(repair: RepairInHand): void {
    const { state, begun, found } = repair
    if (begun !== undefined) throw conflict(`${begun.by} has begun it already.`)
    if (state === 'counting') throw conflict('Its dry run is still under way.')
    if (state !== 'counted') throw conflict('It has ended. Count again.')
    if (found.changed === 0) throw conflict('There is nothing to change.')
    const [other] = this.besides(repair)
    if (other !== undefined) throw conflict(`${other.sentence} Wait until that repair has ended.`)
  }

  /** Ended ones go first, then those that nobody began. */
  #forget(): void {
    const since = Date.now() - KEPT_MS
    for (const { id, isUnderWay, at, endedAt = at } of this.#all.values()) {
      if (!isUnderWay && endedAt < since) this.#all.delete(id)
    }
    const going = [...this.#all.values()].filter(({ isUnderWay }) => !isUnderWay)
    const counted = going.filter(({ endedAt }) => endedAt === undefined)
    for (const { id } of counted.slice(0, Math.max(0, counted.length - COUNTED_MAX))) this.#all.delete(id)
    const inOrder = [...going.filter(({ endedAt }) => endedAt !== undefined), ...counted]
    for (const { id } of inOrder.slice(0, Math.max(0, this.#all.size - KEPT_MAX))) this.#all.delete(id)
  }
}

function conflict(message: string): RequestError {
  return new RequestError(409, 'action_refused', message)
}
