import type { JsonText } from '../adapter/new-item.ts'
import type { Cause, Phase } from '../machine/records.ts'
import type { Unit } from '../machine/state.ts'
import type { Json } from './json.ts'
import type { Owned } from './owned.ts'
import type { Answered, UnderWay } from './under-way.ts'

/** A question to the code of a definition. */
export interface Ask {
  readonly owned: Owned
  readonly unit: Unit
  readonly serial: number
  readonly phase: Phase
}

/** Whoever has the code: calls handlers, and says what they come to. */
export interface Asker {
  /** Never throws. */
  ask(ask: Ask): Answered | UnderWay
  /** It was committed with its run. `counts`: it was what the run had asked last; otherwise it changed nothing. */
  recorded?(answered: Answered, counts: boolean): void
  /** How many kills make a unit poison. */
  killsMax(unit: Unit, code: Owned['code']): number
  /** The error of an answer that the store cannot keep. */
  unstorable(owned: Owned, unit: number, cause: unknown): Json
  /** The error that the machine names with one word. */
  errorOf(owned: Owned, unit: Unit, word: string): Json
  /** The error of a unit whose child has not completed. */
  childError(owned: Owned, unit: Unit, child: EndedChild): Json
  /** Why a run stopped, as people read it. */
  causeOf(owned: Owned, cause: Cause): JsonText
}

/** A child that has not completed. */
export interface EndedChild {
  readonly id: string
  readonly workflow: string
  readonly ended: string
  /** Why, as people read it. */
  readonly cause: JsonText
}
