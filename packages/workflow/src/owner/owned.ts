import type { JsonText } from '../adapter/new-item.ts'
import type { Timer } from '../clock.ts'
import { Few } from '../few.ts'
import type { Dispatch } from '../machine/changes.ts'
import type { Changes, MachineEvent, Run } from '../machine/index.ts'
import type { Cause, Phase } from '../machine/records.ts'
import { goesOn } from '../machine/refusals.ts'
import type { NewRun, OwnedRun } from '../store/index.ts'
import type { Code } from './code.ts'
import type { Letter } from './letters.ts'
import type { Answered, UnderWay } from './under-way.ts'

/** Longer outputs are read again by whoever needs them. */
const KEPT_MAX = 16_384

/** A run that a worker owns, in its memory. */
export class Owned {
  readonly id: string
  readonly code: Code
  readonly input: JsonText
  readonly parent: NewRun['parent'] | null
  readonly key: string | null
  readonly tags: readonly string[] | null
  readonly createdAt: number
  readonly startAt: number | null
  /** How it stands, as far as listeners were told. */
  status: OwnedRun['status']
  parked: boolean
  fence: number
  run!: Run
  /** Its last owner was declared dead, and no commit has said yet that this one knows. */
  lost: boolean
  /** The number of the next unit, by the rows. */
  born = 0
  /** What has happened since the last fold, and asks that were answered. */
  events: MachineEvent[] = []
  answers: Flight[] = []
  letters: Letter[] = []
  /** Sequences of mail that was read. */
  seen: Set<number> | null = null
  readonly flights = new Few<number, Flight>()
  /** When units want to be looked at, by their numbers. */
  dues: Map<number, number> | null = null
  /** What a fold has changed that waits for the next commit. */
  out: Changes | null = null
  /** It is being committed or loaded: nobody may fold it. */
  isBusy = false
  /** It stands in line for a commit. */
  isQueued = false
  /** It is not this worker’s any more. */
  isGone = false
  /** Somebody else is to have it: no handler of it begins here. */
  yields = false
  timer: Timer | undefined = undefined
  /** How often its commits were refused in a row. */
  refusals = 0
  #cause: Cause | undefined = undefined
  #causeText: JsonText = null
  #outputs: JsonText[] = []
  #items: Map<number, JsonText> | null = null

  constructor(code: Code, stored: Omit<OwnedRun, 'steps' | 'mail'>) {
    const { id, input, parent, fence, lost } = stored
    this.id = id
    this.key = stored.key
    this.tags = stored.tags
    this.createdAt = stored.createdAt
    this.startAt = stored.startAt
    this.status = stored.status
    this.parked = stored.parked
    this.code = code
    this.input = input
    this.parent = parent
    this.fence = fence
    this.lost = lost
  }

  /** The output of a unit, if it is in memory. */
  outputOf(unit: number): JsonText | undefined {
    return this.#outputs[unit]
  }

  keepOutput(unit: number, output: JsonText): void {
    if (output === null || output.length <= KEPT_MAX) this.#outputs[unit] = output
    else delete this.#outputs[unit]
  }

  /** What an item was born with, if it is in memory. */
  itemOf(unit: number): JsonText | undefined {
    return this.#items?.get(unit)
  }

  keepItem(unit: number, item: JsonText): void {
    if (item !== null && item.length > KEPT_MAX) return
    this.#items ??= new Map()
    this.#items.set(unit, item)
  }

  forgetOutputs(): void {
    this.#outputs = []
  }

  /** How many of its flights wait for their rows. */
  unrecorded = 0

  /** An ask whose handler was not called goes no further: whoever has a slot for it gives that back. */
  withdraw(flight: Flight): void {
    if (this.flights.get(flight.unit) === flight) this.flights.delete(flight.unit)
    this.recorded(flight)
  }

  /** It waits no more for its row. */
  recorded(flight: Flight): void {
    const { onRecorded } = flight
    if (onRecorded === undefined) return
    flight.onRecorded = undefined
    this.unrecorded -= 1
    onRecorded()
  }

  /** Why it stopped, as people read it; null: it has not. What was read of it stays, as long as it is the same cause. */
  causeText(asker: { causeOf(owned: Owned, cause: Cause): JsonText }): JsonText {
    const cause = this.run.root.note?.cause
    if (cause === undefined) return null
    if (cause !== this.#cause) this.keepCause(asker.causeOf(this, cause))
    return this.#causeText
  }

  keepCause(text: JsonText): void {
    this.#cause = this.run.root.note?.cause
    this.#causeText = text
  }

  /** There is something to fold. */
  get hasNews(): boolean {
    return this.events.length + this.answers.length + this.letters.length > 0
  }

  /** When it is stopped; Infinity: never, or it has been stopped already. */
  get deadlineAt(): number {
    const { deadlineAt } = this.run
    return deadlineAt !== null && goesOn(this.run) ? deadlineAt : Number.POSITIVE_INFINITY
  }

  /** When somebody must look at it; Infinity: only mail wakes it. */
  get due(): number {
    let due = this.deadlineAt
    if (this.dues !== null && !this.run.paused)
      for (const each of this.dues.values()) due = Math.min(due, each)
    return due
  }

  /** A handler of it was called, and has not answered. */
  get hasCalled(): boolean {
    for (let place = 0; place < this.flights.size; place += 1)
      if (this.flights.at(place).calledAt !== null) return true
    return false
  }
}

/** An ask that has left: it waits for a slot, or its handler was called. */
export class Flight {
  readonly owned: Owned
  readonly unit: number
  readonly serial: number
  readonly phase: Phase
  /** It may have begun before. */
  readonly suspect: boolean
  /** Instants of the owner’s clock; null: not yet. */
  readonly queuedAt: number
  calledAt: number | null = null
  /** When its handler was called, in epoch milliseconds of the store’s clock. */
  startedAt = 0
  /** What it came to, and when: epoch milliseconds of the store’s clock. */
  answer: Answered | null = null
  finishedAt = 0
  /** It was what its unit waited for when it was folded. */
  counts = false
  /** Undefined for a handler that answers at once. */
  underWay: UnderWay | undefined = undefined
  /** It waits until its row says that it begins. */
  onRecorded: (() => void) | undefined = undefined

  constructor(owned: Owned, { unit, serial, phase, suspect }: Dispatch, queuedAt: number) {
    this.owned = owned
    this.unit = unit
    this.serial = serial
    this.phase = phase
    this.suspect = suspect
    this.queuedAt = queuedAt
  }
}
