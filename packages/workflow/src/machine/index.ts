import { digest } from './digest.ts'
import { done, due, failed, lost, record, setOut, unbegun } from './life.ts'
import { migrate } from './migrate.ts'
import {
  cancel,
  deadline,
  giveUp,
  pause,
  resume,
  retry,
  retryStep,
  retryUndo,
  skipStep,
  skipUndo,
  undoRun,
} from './operators.ts'
import { type Told, unknownUnit } from './refusals.ts'
import { type Commit, commit, parse, type Row, type RunRow } from './rows.ts'
import { birth, enter } from './scope.ts'
import { type Changes, changes, type MachineEvent, type Run, type Spec, type Unit } from './state.ts'

export { type Commit, commit, type Row, type RunRow } from './rows.ts'
export { type Changes, changes, type MachineEvent, type Run, type Spec } from './state.ts'

/** A run that nobody has begun: its rows are those of its root and of what the root opens. */
export function start(id: string, spec: Spec, parent: string | null = null): { run: Run; commit: Commit } {
  const run = blank({ id, parent, paused: false, born: 0 })
  run.root = birth(run, null, 'root', spec)
  if (spec.of.asks === undefined) run.root.kind.grow?.(run, run.root, undefined)
  return { run, commit: commit(run) }
}

function blank({ id, parent, paused, born }: RunRow): Run {
  const root = undefined as unknown as Unit
  return { id, parent, paused, born, units: [], root, parked: 0, now: 0, out: changes(), agenda: [] }
}

/** Memory from rows: parses, then enters the root as a start does. What that would change was committed, so it goes nowhere. No rule is here. */
export function load(row: RunRow, rows: readonly Row[], spec: Spec): Run {
  const run = blank(row)
  parse(run, rows, spec)
  fold(run, 0, changes(), () => {
    if (run.root.units !== null && run.root.status !== 'pending') enter(run, run.root)
  })
  run.out = changes()
  return run
}

/** What an event answers to whoever sent it: to an operator what became of it, to mail whether it was taken. */
export type Answered = Told | undefined

/** Applies one event. It decides from rows, definition and `now` alone; what changes is in `out`. */
export function advance(run: Run, event: MachineEvent, now: number, out: Changes): Answered {
  return fold(run, now, out, () => {
    if (!('unit' in event)) return ofRun(run, event)
    const u = run.units[event.unit]
    return u === undefined ? unknownUnit(run, event.unit) : ofUnit(run, u, event)
  })
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
      if (run.root.status === 'pending' && !run.paused) setOut(run, run.root)
      return undefined
    case 'takeover':
      for (const u of run.units) if (u?.flying === true) lost(run, u, u.serial)
      return undefined
    case 'migrate':
      return migrate(run, event.spec)
    case 'cancel':
      return cancel(run, event)
    default:
      return ON_RUN[event.type](run)
  }
}

const ON_RUN = { undoRun, retry, pause, resume, deadline } as const

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
      return void lost(run, u, event.serial)
    case 'unbegun':
      return void unbegun(run, u, event.serial)
    case 'mail':
      return { changed: u.kind.mail?.(run, u, event.mail) ?? false }
    case 'call':
      return void u.kind.call?.(run, u, event)
    case 'skipStep':
      return skipStep(run, u, event.output)
    default:
      return ON_UNIT[event.type](run, u)
  }
}

const ON_UNIT = { retryStep, giveUp, retryUndo, skipUndo } as const
