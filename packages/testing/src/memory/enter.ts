import type { LimitEntry, Outcome, SlotHolder } from '@belay/workflow/adapter'
import { isTerminal, RATE_HORIZON_MS } from '@belay/workflow/adapter'
import { byLine, callLines, type Line, putSlot, slotOf } from './call-steps.ts'
import { changeStep } from './change.ts'
import { firstInstant, goodAt, hasCome, takeInstant } from './instants.ts'
import type { StepOfRun } from './lease.ts'
import { callsOf, dropVoid, isAwaited, isClosed, lineOf, rateOf, roomOf } from './limit-facts.ts'
import { lineName, OF_RUN, type SlotRow, slotName, waiterName } from './limit-rows.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { rowOf, rowsOf } from './run-rows.ts'

/** A step whose attempt asks for slots. */
export interface Entering extends StepOfRun {
  readonly entries: readonly LimitEntry[]
}

/** What a step had of its line before it asked. */
interface Place {
  readonly runId: string
  readonly place: number | null
  readonly since: number | null
  /** It was called, or has an instant: it does not wait behind others. */
  readonly isCalled: boolean
}

/** The places that steps had in lines, by {@link waiterName}. */
export type Places = ReadonlyMap<string, Place>

/** Takes the entering steps out of the lines in which they stand, and drops slots for which they do not ask. */
export function takeFromLines(rows: Rows, steps: readonly Entering[]): Places {
  const places = new Map<string, Place>()
  for (const entering of steps) {
    const { runId } = entering.run
    const name = waiterName({ runId, step: entering.step.step })
    const waiter = rows.limits.waiters.get(name)
    rows.limits.waiters.delete(name)
    dropOthers(rows, entering)
    const slots = ownSlots(rows, entering)
    const before = slots.flatMap(({ place }) => place ?? [])
    const place = waiter?.place ?? (before.length === 0 ? null : Math.min(...before))
    const isCalled = (waiter?.calledAt ?? 0) > 0 || slots.some(({ isGiven }) => isGiven)
    places.set(name, { runId, place, since: waiter?.since ?? null, isCalled })
  }
  const left = steps.flatMap(({ entries }) => entries.filter(({ ifFull }) => ifFull !== undefined))
  for (const line of left) if (!isAwaited(rows, line)) dropVoid(rows, line)
  return places
}

function ownSlots(rows: Rows, { run, step }: StepOfRun): readonly SlotRow[] {
  return [...rows.limits.slots.values()].filter((slot) => slot.runId === run.runId && slot.step === step.step)
}

/** How an attempt stands to one of its entries: it has a slot, may have one now, at an instant, or not yet. */
type Turn = 'taken' | 'free' | { readonly at: number } | 'missing'

/**
 * Gives the step its slots, all or none; or instants that come soon. Without them it is parked, unless an entry that is full says what happens instead:
 * then returns that one.
 */
export function enter(
  rows: Rows,
  held: StepOfRun,
  { entries }: Extract<Outcome, { type: 'enters' }>,
  places: Places,
): 'settled' | 'parked' | { readonly full: LimitEntry } | { readonly inMs: number } {
  const sorted = [...entries].sort(byLine)
  const mine = places.get(waiterName({ runId: held.run.runId, step: held.step.step }))!
  const waited = sorted
    .filter((entry) => !isLeft(held, entry))
    .map((entry) => ({ entry, turn: turnOf(rows, held, entry, mine) }))
  const left = fullForGood(rows, held, sorted)
  const runWaits = waited.some(({ entry, turn }) => entry.of === 'run' && turn !== 'taken' && turn !== 'free')
  // Whether the step is skipped is decided once its run may begin.
  if (left !== undefined && (left.of === 'run' || !runWaits)) {
    leaveAsFull(rows, held, left)
    return { full: left }
  }
  const full = waited.find(({ turn }) => turn === 'missing')
  if (full !== undefined) {
    // It waits for nothing that it would not wait for.
    park(rows, held, { full: full.entry, entries: sorted.filter((entry) => !isLeft(held, entry)), places })
    return 'parked'
  }
  const instants = waited.flatMap(({ turn }) => (typeof turn === 'object' ? [turn.at] : []))
  if (instants.length > 0) {
    const until = Math.max(...instants)
    for (const entry of sorted) reserve(rows, held, entry, { until, place: mine.place })
    return { inMs: until - rows.now }
  }
  for (const entry of sorted) take(rows, held, entry)
  return 'settled'
}

function turnOf(rows: Rows, held: StepOfRun, entry: LimitEntry, { isCalled }: Place): Turn {
  const slot = slotOf(rows, entry, held)
  const good = slot === undefined ? null : goodFrom(rows, slot, held)
  if (good !== null) return good === 0 ? 'taken' : { at: good }
  const rate = rateOf(rows, entry.limit)
  const at = rate === null ? 0 : firstInstant(rows, entry, rate)
  // Whoever was called, or has missed an instant, stood before those that still wait.
  const mayHave =
    isCalled || slot !== undefined
      ? rate === null
        ? roomOf(rows, entry) > 0
        : at <= rows.now + RATE_HORIZON_MS
      : lineOf(rows, entry).length === 0 && callsOf(rows, entry) > 0 && Number.isFinite(at)
  if (!mayHave) return 'missing'
  return hasCome(rows, at) ? 'free' : { at }
}

/** Takes an instant that is still to come. The attempt begins at the last of all. */
function reserve(
  rows: Rows,
  held: StepOfRun,
  entry: LimitEntry,
  { until, place }: { readonly until: number; readonly place: number | null },
): void {
  const rate = rateOf(rows, entry.limit)
  if (rate === null) return
  const slot = slotOf(rows, entry, held)
  const good = slot === undefined ? null : goodFrom(rows, slot, held)
  if (good === 0 && !slot!.isGiven) return
  if (good === null) {
    if (hasCome(rows, firstInstant(rows, entry, rate))) return
    takeInstant(rows, entry, rate)
  }
  putSlot(rows, entry, held, { isGiven: true, at: until, place })
}

function take(rows: Rows, held: StepOfRun, entry: LimitEntry): void {
  const known = slotOf(rows, entry, held)
  const rate = rateOf(rows, entry.limit)
  if (known === undefined || goodFrom(rows, known, held) !== 0) {
    if (rate !== null) takeInstant(rows, entry, rate)
    putSlot(rows, entry, held, { isGiven: false, at: rate === null ? null : rows.now, place: null })
    return
  }
  known.fence = entry.of === 'run' ? 0 : held.step.fence
  known.isGiven = false
}

/** The entry without a slot for which the step does not wait: one of the run first. */
function fullForGood(rows: Rows, held: StepOfRun, entries: readonly LimitEntry[]): LimitEntry | undefined {
  const full = entries.filter((entry) => {
    if (!isLeft(held, entry)) return false
    const slot = slotOf(rows, entry, held)
    if (slot !== undefined && goodFrom(rows, slot, held) === 0) return false
    // Another step of this run has come before, and had no slot.
    if (entry.of === 'run' && held.run.stop !== null) return true
    const rate = rateOf(rows, entry.limit)
    return rate === null ? callsOf(rows, entry) <= 0 : !hasCome(rows, firstInstant(rows, entry, rate))
  })
  return full.find(({ of }) => of === 'run') ?? full[0]
}

/** Whether the step does not wait for a slot of this entry. A run of which something was done already waits: it began before it had this limit. */
function isLeft({ run }: StepOfRun, { of, ifFull }: LimitEntry): boolean {
  if (ifFull === undefined) return false
  return of === 'step' || !rowsOf(run).some(({ status }) => status === 'completed' || status === 'failed')
}

/** The attempt is over. Slots that it was given are freed like those of any other; of its run, the step is released. */
function leaveAsFull(rows: Rows, { run, step }: StepOfRun, { of }: LimitEntry): void {
  for (const slot of rows.limits.slots.values()) {
    if (slot.runId !== run.runId || slot.step !== step.step) continue
    slot.fence = step.fence
    slot.isGiven = false
  }
  if (of === 'run') changeStep(run, step, releasedUnbegun(rows, step))
}

/** From when on a slot that the step, or its run, has is as good as a new one: 0 for at once, null for never. Of a rate each attempt needs an instant of its own. */
function goodFrom(rows: Rows, slot: SlotRow, { step }: StepOfRun): number | null {
  if (!slot.isGiven && (slot.step === OF_RUN || slot.fence === step.fence)) return 0
  const rate = rateOf(rows, slot.limit)
  if (rate !== null) return slot.isGiven ? goodAt(rows, slot, rate) : null
  return isClosed(rows, slot) ? null : 0
}

/** Slots of keys that the step had when it was given them, and has no more. */
function dropOthers(rows: Rows, { run, step, entries }: Entering): void {
  for (const [name, slot] of rows.limits.slots) {
    if (slot.runId !== run.runId || slot.step !== step.step) continue
    const asks = entries.some(
      ({ limit, key, of }) => of === 'step' && limit === slot.limit && key === slot.key,
    )
    if (!asks) rows.limits.slots.delete(name)
  }
}

function park(
  rows: Rows,
  { run, step }: StepOfRun,
  asked: {
    readonly full: LimitEntry
    readonly entries: readonly LimitEntry[]
    readonly places: Places
  },
): void {
  const { limit, key } = asked.full
  const at = { runId: run.runId, step: step.step }
  // Whoever waits for one limit holds nothing of another.
  for (const [name, slot] of rows.limits.slots)
    if (slot.runId === at.runId && slot.step === at.step) rows.limits.slots.delete(name)
  const before = asked.places.get(waiterName(at))!
  const placeOfRun = voidInstantOfRun(rows, { run, step }, asked)
  rows.limits.waiters.set(waiterName(at), {
    ...{ ...at, fence: step.fence, limit, key, entries: asked.entries, calledAt: null },
    place: before.place ?? placeOfRun ?? rows.limits.nextPlace(),
    since: before.since ?? rows.now,
  })
  // As after a release, but in no queue.
  changeStep(run, step, releasedUnbegun(rows, step))
}

function releasedUnbegun(rows: Rows, step: StepRow): Partial<StepRow> {
  return {
    status: 'ready',
    workerId: null,
    availableAt: rows.now,
    finishedAt: rows.now,
    attempts: step.attempts - 1,
    begun: begunBefore(step),
  }
}

/**
 * The instant that its run has missed: with that, the step would be queued again at once. One that is still to come stays, as other steps of the run are
 * queued for it. Returns the place of whoever was given it.
 */
function voidInstantOfRun(
  rows: Rows,
  held: StepOfRun,
  { full, places }: { readonly full: LimitEntry; readonly places: Places },
): number | null {
  const slot = full.of === 'run' ? slotOf(rows, full, held) : undefined
  if (slot === undefined || goodFrom(rows, slot, held) !== null) return null
  rows.limits.slots.delete(slotName(full, slot.runId, slot.step))
  // Another step of the run may have it: no two have one place.
  const others = [...places.values(), ...rows.limits.waiters.values(), ...rows.limits.slots.values()]
  const isTaken = others.some(({ runId, place }) => runId === slot.runId && place === slot.place)
  return isTaken ? null : slot.place
}

function begunBefore(step: StepRow): boolean | null {
  if (step.begun === true) return true
  return step.fence === 1 ? false : step.begun
}

/** Frees the slots of attempts that are over, and of their runs that have ended. Returns whether steps were queued. */
export function free(rows: Rows, holders: readonly SlotHolder[] | undefined): boolean {
  if (holders === undefined || rows.limits.slots.size === 0) return false
  const lines = new Map<string, Line>()
  for (const { runId, step, fence } of holders) {
    const run = rows.runs.get(runId)
    for (const [name, slot] of rows.limits.slots) {
      if (slot.runId !== runId) continue
      const isOver =
        slot.step === OF_RUN
          ? run === undefined || isTerminal(run.status)
          : slot.step === step && !slot.isGiven && slot.fence === fence && !isHeld(run, step, fence)
      if (!isOver) continue
      rows.limits.slots.delete(name)
      lines.set(lineName(slot), slot)
    }
  }
  return callLines(rows, [...lines.values()])
}

function isHeld(run: RunRow | undefined, number: number, fence: number): boolean {
  const step = run === undefined ? undefined : rowOf(run, number)
  return step?.status === 'running' && step.fence === fence
}
