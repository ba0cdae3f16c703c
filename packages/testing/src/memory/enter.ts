import type { LimitEntry, Outcome, SlotHolder } from '@belay/workflow/adapter'
import { isTerminal } from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { addSlot, byLine, handOver, type Line, slotOf } from './give-slots.ts'
import { isInTime, mayComeInTime } from './instants.ts'
import type { StepOfRun } from './lease.ts'
import { dropVoid, isClosed, lineOf, rateOf, roomNow } from './limit-facts.ts'
import { lineName, OF_RUN, type SlotRow, slotName, type WaiterRow, waiterName } from './limit-rows.ts'
import type { Rows, RunRow, StepRow } from './rows.ts'
import { rowOf, rowsOf } from './run-rows.ts'

/** A step whose attempt asks for slots. */
export interface Entering extends StepOfRun {
  readonly entries: readonly LimitEntry[]
}

/** The places that steps had in lines, by {@link waiterName}. */
export type Places = ReadonlyMap<string, WaiterRow>

/** Takes the entering steps out of the lines in which they stand because their runs were resumed, and drops slots for which they do not ask. */
export function takeFromLines(rows: Rows, steps: readonly Entering[]): Places {
  const places = new Map<string, WaiterRow>()
  for (const entering of steps) {
    const name = waiterName({ runId: entering.run.runId, step: entering.step.step })
    const waiter = rows.limits.waiters.get(name)
    if (waiter !== undefined) places.set(name, waiter)
    rows.limits.waiters.delete(name)
    dropOthers(rows, entering)
  }
  const left = steps.flatMap(({ entries }) => entries.filter(({ ifFull }) => ifFull !== undefined))
  for (const line of left) if (lineOf(rows, line).length === 0) dropVoid(rows, line)
  return places
}

/** Gives the step its slots, all or none. Without them it is parked, unless an entry that is full says what happens instead: then returns that one. */
export function enter(
  rows: Rows,
  held: StepOfRun,
  { entries }: Extract<Outcome, { type: 'enters' }>,
  places: Places,
): 'settled' | 'parked' | { readonly full: LimitEntry } {
  const sorted = [...entries].sort(byLine)
  const { step } = held
  const waited = sorted.filter((entry) => !isLeft(held, entry) && mustWait(rows, held, entry))
  const left = fullForGood(rows, held, sorted)
  // Whether the step is skipped is decided once its run may begin.
  if (left !== undefined && (left.of === 'run' || waited.every(({ of }) => of === 'step'))) {
    leaveAsFull(rows, held, left)
    return { full: left }
  }
  const [full] = waited
  if (full !== undefined) {
    // It waits for nothing that it would not wait for.
    park(rows, held, { full, entries: sorted.filter((entry) => !isLeft(held, entry)), places })
    return 'parked'
  }
  for (const entry of sorted) {
    const known = slotOf(rows, entry, held)
    const slot =
      known !== undefined && isGood(rows, known, held) ? known : addSlot(rows, entry, held, known?.place)
    slot.fence = entry.of === 'run' ? 0 : step.fence
    slot.isGiven = false
  }
  return 'settled'
}

/** Whether there is no slot, or somebody stands in line for it. */
function mustWait(rows: Rows, held: StepOfRun, entry: LimitEntry): boolean {
  const slot = slotOf(rows, entry, held)
  if (slot !== undefined && isGood(rows, slot, held)) return false
  if (roomNow(rows, entry) <= 0) return true
  // Whoever has missed an instant stood before those that still wait.
  return slot === undefined ? lineOf(rows, entry).length > 0 : isClosed(rows, entry)
}

/** The entry without a slot for which the step does not wait: one of the run first. */
function fullForGood(rows: Rows, held: StepOfRun, entries: readonly LimitEntry[]): LimitEntry | undefined {
  const full = entries.filter((entry) => {
    if (!isLeft(held, entry)) return false
    const slot = slotOf(rows, entry, held)
    if (slot !== undefined && isGood(rows, slot, held)) return false
    // Another step of this run has come before, and had no slot.
    return roomNow(rows, entry) <= 0 || (entry.of === 'run' && held.run.stop !== null)
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

/** Whether a slot that the step, or its run, has is as good as a new one. Of a rate each attempt needs an instant of its own. */
function isGood(rows: Rows, slot: SlotRow, { step }: StepOfRun): boolean {
  if (!slot.isGiven && (slot.step === OF_RUN || slot.fence === step.fence)) return true
  const rate = rateOf(rows, slot.limit)
  if (rate !== null) return slot.isGiven && isInTime(rows, slot, rate)
  return !isClosed(rows, slot)
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
  let placed: number | null = null
  for (const [name, slot] of rows.limits.slots) {
    if (slot.runId !== at.runId || slot.step !== at.step) continue
    placed ??= slot.place
    rows.limits.slots.delete(name)
  }
  const before = asked.places.get(waiterName(at))
  const placeOfRun = voidInstantOfRun(rows, { run, step }, asked)
  if (before === undefined) placed ??= placeOfRun
  rows.limits.waiters.set(waiterName(at), {
    ...{ ...at, fence: step.fence, limit, key, entries: asked.entries },
    place: before?.place ?? placed ?? rows.limits.nextPlace(),
    since: before?.since ?? rows.now,
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
  if (slot === undefined || mayComeInTime(rows, slot)) return null
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
  return handOver(rows, [...lines.values()])
}

function isHeld(run: RunRow | undefined, number: number, fence: number): boolean {
  const step = run === undefined ? undefined : rowOf(run, number)
  return step?.status === 'running' && step.fence === fence
}
