import { ignored, type Receipt } from './answers.ts'
import { type Changed, changedSince, shownNow } from './changed.ts'
import { noChanges } from './changes.ts'
import { digest } from './digest.ts'
import type { MachineEvent } from './events.ts'
import { done, due, failed, lined, lost, permit, record, released, setOut, within } from './life.ts'
import { migrate } from './migrate.ts'
import { cancel, deadline, drop, pause, resume, retry, setPriority, undoRun } from './operators.ts'
import { failing, isAlive } from './outcomes.ts'
import { type Told, unknownUnit } from './refusals.ts'
import type { Row, RunRow } from './row.ts'
import { type Commit, commit, parse, rowOf, runRowOf } from './rows.ts'
import { birth, enter } from './scope.ts'
import type { Changes, Run, Spec, Unit } from './state.ts'
import { giveUp, ofIdle, retryStep, skipStep } from './step-operators.ts'
import { retryUndo, skipUndo } from './undo-operators.ts'

export type { Changed } from './changed.ts'
export type { MachineEvent } from './events.ts'
export type { Row, RunRow } from './row.ts'
export { type Commit, commit } from './rows.ts'
export type { Changes, Run, Spec } from './state.ts'

/** What a fold begins with. */
export const changes: () => Changes = noChanges

/** A run that nobody has begun: its rows are those of its root and of what the root opens. */
export function start(id: string, spec: Spec, started: Started = {}): { run: Run; commit: Commit } {
  const run = fresh(id, spec, changes(), started)
  return { run, commit: commit(run) }
}

/** The same where its rows are known: what its birth changes is in `out`. */
export function fresh(
  id: string,
  spec: Spec,
  out: Changes,
  { parent = null, deadlineAt = null, priority = 0 }: Started,
): Run {
  const run = blank(id, parent, out)
  run.deadlineAt = deadlineAt
  run.priority = priority
  run.root = birth(run, null, 'root', spec)
  if (spec.of.asks === undefined) run.root.kind.grow?.(run, run.root, undefined)
  return run
}

interface Started {
  /** A child’s: its parent decides what becomes of it. */
  readonly parent?: string | null
  readonly deadlineAt?: number | null
  readonly priority?: number
}

function blank(id: string, parent: string | null, out: Changes): Run {
  return {
    id,
    parent,
    paused: false,
    priority: 0,
    born: 0,
    units: [],
    root: undefined as unknown as Unit,
    parked: 0,
    deadlineAt: null,
    ends: 0,
    known: null,
    now: 0,
    out,
    agenda: [],
  }
}

/** What a load knows besides rows. */
interface Loaded {
  /** The run has begun, which its rows do not say. */
  readonly begun: boolean
  /** Serials that this process knows and the rows, of which the store has lost some, do not: none is given twice. By unit. */
  readonly serials?: ReadonlyMap<number, number>
}

/** Memory from rows: parses, then enters the root as a start does. What that would change was committed, so it goes nowhere. No rule is here. */
export function load(known: RunRow, rows: readonly Row[], spec: Spec, { begun, serials }: Loaded): Run {
  const { id, parent, born, paused, priority, deadlineAt, ends } = known
  const run: Run = { ...blank(id, parent, changes()), born, paused, priority, deadlineAt, ends, known }
  parse(run, rows, spec)
  fold(run, 0, changes(), () => {
    if (isAlive(run.root)) enter(run, run.root)
    else if (begun && run.root.status === 'pending') setOut(run, run.root)
  })
  run.out = changes()
  for (const [no, serial] of serials ?? []) {
    const u = run.units[no]
    if (u !== undefined) u.serial = Math.max(u.serial, serial)
  }
  return run
}

/** What an event answers to whoever sent it: to an operator what became of it, to mail whether it was taken. */
export type Answered = Told | Changed | Receipt | undefined

/** Applies one event. It decides from rows, definition and `now` alone; what changes is in `out`. */
export function advance(run: Run, event: MachineEvent, now: number, out: Changes): Answered {
  const before = BY_OPERATORS.has(event.type) ? shownNow(run) : null
  const answer = fold(run, now, out, () => {
    if (!('unit' in event)) return ofRun(run, event)
    const u = run.units[event.unit]
    return u === undefined ? unknownUnit(run, event.unit) : ofUnit(run, u, event)
  })
  const isChanged = answer !== undefined && 'changed' in answer && answer.changed
  return before !== null && isChanged ? changedSince(run, before) : answer
}

/** What answers the asks of a run in one commit, in the order in which it is applied: what stops the run comes first, so that nothing begins that would be stopped. */
export function failuresFirst<Told>(
  run: Run,
  told: readonly Told[],
  eventOf: (told: Told) => MachineEvent,
): readonly Told[] {
  const stops = (each: Told): boolean => {
    const event = eventOf(each)
    if (event.type !== 'failed' || event.retryAt !== undefined || event.interrupted === true) return false
    const u = run.units[event.unit]
    return u !== undefined && failing(u) === run.root
  }
  return [...told.filter(stops), ...told.filter((each) => !stops(each))]
}

/** What an event would answer and change. The run stays as it is. */
export function dryRun(run: Run, event: MachineEvent, now: number): { answer: Answered; changes: Changes } {
  const out = changes()
  return { answer: advance(copyOf(run), event, now, out), changes: out }
}

function copyOf(run: Run): Run {
  const units = run.units.filter((u) => u !== undefined)
  const rows = units.filter(({ scope }) => scope !== null).map(rowOf)
  const copy = load(runRowOf(run, rowOf(run.root)), rows, run.root.spec, { begun: true })
  // What the rows in the store say is not what a fold that is under way will make of them.
  for (const { no, row, written } of units) Object.assign(copy.units[no]!, { row, written })
  return copy
}

function fold<Result>(run: Run, now: number, out: Changes, act: () => Result): Result {
  run.now = now
  run.out = out
  const answer = act()
  digest(run)
  return answer
}

type OfRun = Exclude<MachineEvent, { readonly unit: number }>

function ofRun(run: Run, event: OfRun): Answered {
  switch (event.type) {
    case 'begin':
      if (run.root.status === 'pending' && !run.paused) {
        run.out.begun = true
        setOut(run, run.root)
      }
      return undefined
    case 'takeover':
      for (const u of run.units) if (u?.flying === true) lost(run, u, u)
      return undefined
    case 'migrate':
      return migrate(run, event)
    case 'cancel':
      return cancel(run, event)
    case 'pause':
      return pause(run, event)
    case 'resume':
      return resume(run, event)
    case 'retry':
      return retry(run, event)
    case 'setPriority':
      return setPriority(run, event.priority)
    default:
      return ON_RUN[event.type](run)
  }
}

const ON_RUN = { undoRun, drop, deadline } as const

function ofUnit(run: Run, u: Unit, event: Extract<MachineEvent, { readonly unit: number }>): Answered {
  switch (event.type) {
    case 'done':
      return void done(run, u, event)
    case 'failed':
      return void failed(run, u, event)
    case 'record':
      return void record(run, u, event)
    case 'due':
      return void due(run, u)
    case 'lost':
      return void lost(run, u, event)
    case 'released':
      return void released(run, u, event)
    case 'lined':
      return void lined(run, u, event)
    case 'permit':
      return void permit(run, u)
    case 'within':
      return void within(run, u, event)
    case 'mail':
      return u.kind.mail?.(run, u, event.mail) ?? ignored('not_waiting')
    case 'call':
      return void u.kind.call?.(run, u, event)
    case 'skipStep':
      return ofIdle(run, u, event, () => skipStep(run, u, event.output))
    case 'retryStep':
      return ofIdle(run, u, event, () => retryStep(run, u))
    case 'giveUp':
      return giveUp(run, u, event.reason)
    default:
      return ON_UNIT[event.type](run, u)
  }
}

const ON_UNIT = { retryUndo, skipUndo } as const

const BY_OPERATORS: ReadonlySet<MachineEvent['type']> = new Set([
  ...['cancel', 'undoRun', 'retry', 'pause', 'resume', 'drop', 'setPriority', 'migrate'],
  ...['retryStep', 'skipStep', 'giveUp', 'retryUndo', 'skipUndo'],
] as MachineEvent['type'][])
