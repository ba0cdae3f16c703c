import { attemptsOf, indexOf, type RoundTimes, roundAt, roundOf, timesOf } from '../attempts.ts'
import { marksWidth } from '../marks.ts'
import type { ViewAttempt, ViewRun, ViewStep } from '../model.ts'
import { type TimeScale, type TimeSpan, timeScale } from '../scale.ts'
import { type StepState, stateAt } from '../state.ts'
import { textWidth } from '../text.ts'
import { undoOrder, wouldUndo } from '../undo.ts'

export interface TimelineOptions {
  /** The instant to draw, default `readAt`. */
  readonly at?: number | undefined
  /** Pixels, default 1100. Below 640 the names stand above the bars. */
  readonly width?: number | undefined
  /** Default true: idle time is folded. */
  readonly fold?: boolean | undefined
  /** Default: the round that the run was in. */
  readonly round?: number | undefined
  /** Lists what an undo would cover, beneath a run that goes forward. Default false. */
  readonly preview?: boolean | undefined
  /** Of the labels, default UTC. */
  readonly zone?: string | undefined
  /** Rows of 24 pixels instead of 30. */
  readonly compact?: boolean | undefined
  /** Pixels to keep free for buttons beside each parked undo, default 0. */
  readonly actions?: number | undefined
}

/** A run, an instant, and where everything stands. */
export interface Plan {
  readonly run: ViewRun
  readonly at: number
  readonly round: number
  readonly times: RoundTimes
  /** The stop, if it had happened by then; and the drain. */
  readonly stoppedAt: number | undefined
  readonly drainedAt: number | undefined
  readonly live: boolean
  readonly zone: string
  readonly narrow: boolean
  readonly width: number
  readonly left: number
  readonly rowHeight: number
  readonly barHeight: number
  readonly actions: number
  readonly scale: TimeScale
  readonly order: ReadonlyMap<string, number>
  /** When the newest undo attempt that has ended did so; 0 if there is none. */
  readonly undoneUntil: number
  /** Steps that were running at that instant. */
  readonly running: readonly string[]
  readonly rows: readonly PlannedRow[]
  /** The steps without a row, and why. */
  readonly notBegun: readonly { readonly step: string; readonly why: string }[]
  readonly axis: number
  readonly hasUndo: boolean
  readonly preview: ReturnType<typeof wouldUndo>
  readonly previewTop: number
  readonly height: number
}

export interface PlannedRow {
  readonly id: string
  readonly step: ViewStep
  readonly direction: ViewAttempt['direction']
  readonly state: StepState
  /** Known attempts that had begun, oldest first. */
  readonly attempts: readonly ViewAttempt[]
  /** Nothing to undo. */
  readonly nothing: boolean
  readonly y: number
  readonly height: number
  readonly center: number
}

const TOP = 30

/** Where everything stands, without drawing it: of a large run it is made once, and drawn again and again in part. */
export function planTimeline(run: ViewRun, options: TimelineOptions = {}): Plan {
  const { width = 1100, zone = 'UTC', compact = false, actions = 0 } = options
  const instant = instantOf(run, options)
  const { at, round, stoppedAt, live } = instant
  const narrow = width < 640
  const left = narrow ? 6 : gutter(run, width)
  const base = {
    ...{ run, ...instant, zone, narrow, width, left, actions },
    rowHeight: (compact ? 24 : 30) + (narrow ? 15 : 0),
    barHeight: compact ? 10 : 12,
    scale: scaleOf(run, instant, {
      left,
      width: width - left - (narrow ? 8 : 30),
      fold: options.fold ?? true,
    }),
    order: new Map(undoOrder(run, round).map(({ step, number }) => [step.name, number])),
    undoneUntil: undoneUntil(run, at, round),
  }
  const previews = options.preview === true && live && stoppedAt === undefined
  const preview = previews ? wouldUndo(run, at) : []
  return { ...base, preview, ...placeRows(base, previews, preview.length) }
}

type Instant = Pick<Plan, 'at' | 'round' | 'times' | 'stoppedAt' | 'drainedAt' | 'live'>

function instantOf(run: ViewRun, { at: wanted = run.readAt, round: given }: TimelineOptions): Instant {
  const round = Math.max(1, Math.min(given ?? roundAt(run, wanted), run.rounds))
  const times = timesOf(run, round)
  const ended = round < run.rounds || run.finishedAt !== undefined
  const at = ended ? Math.min(wanted, times.endAt) : wanted
  const by = (instant: number | undefined) => (instant !== undefined && instant <= at ? instant : undefined)
  const live = !ended || at < times.endAt
  return { at, round, times, stoppedAt: by(times.stoppedAt), drainedAt: by(times.drainedAt), live }
}

function scaleOf(
  run: ViewRun,
  instant: Instant,
  axis: { readonly left: number; readonly width: number; readonly fold: boolean },
): TimeScale {
  const { at, times } = instant
  const span = { startAt: Math.min(times.startAt, at), endAt: Math.max(at, times.startAt + 1) }
  return timeScale(spansOf(run, instant), { ...axis, ...span })
}

function gutter({ steps }: ViewRun, width: number): number {
  const longest = steps.reduce(
    (most, step) => Math.max(most, textWidth(step.name.slice(0, 60)) + marksWidth(step)),
    0,
  )
  return Math.round(Math.max(Math.min(176, width * 0.26), Math.min(longest + 70, 280, width * 0.26)))
}

function undoneUntil({ steps }: ViewRun, at: number, round: number): number {
  const ends = steps.flatMap((step) =>
    attemptsOf(step, 'undo', roundOf(step, round)).map(({ endAt = 0 }) => endAt),
  )
  return ends.reduce((latest, endAt) => (endAt <= at ? Math.max(latest, endAt) : latest), 0)
}

function spansOf(
  run: ViewRun,
  { at, round, times }: Pick<Plan, 'at' | 'round' | 'times'>,
): readonly TimeSpan[] {
  const attempts = run.steps.flatMap((step) => [
    ...attemptsOf(step, 'forward', roundOf(step, round)),
    ...attemptsOf(step, 'undo', roundOf(step, round)),
  ])
  const spans = attempts
    .filter(({ startAt }) => startAt <= at)
    .flatMap(({ startAt, endAt = at, ended }) => {
      const last = Math.min(endAt, at)
      if (ended !== 'waiting') return [{ startAt, endAt: last }]
      // Nothing happens while a step waits.
      return [
        { startAt, endAt: startAt },
        { startAt: last, endAt: last },
      ]
    })
  const { stoppedAt, drainedAt = at } = times
  return stoppedAt === undefined || stoppedAt > at
    ? spans
    : [...spans, { startAt: stoppedAt, endAt: Math.min(at, drainedAt) }]
}

type Placed = Pick<Plan, 'rows' | 'notBegun' | 'running' | 'axis' | 'hasUndo' | 'previewTop' | 'height'>
type Unplaced = Omit<Plan, keyof Placed | 'preview'>

/** Forward rows in the order of the steps; beneath the axis the same ones mirrored. */
function placeRows(plan: Unplaced, previews: boolean, previewed: number): Placed {
  const all = plan.run.steps.map((step) => begunStep(plan, step))
  const begun = all.filter(({ isShown }) => isShown)
  const notBegun = all.flatMap((one) => (one.isShown ? [] : [whyNotBegun(one, plan)]))
  const rows: PlannedRow[] = []
  let y = TOP
  for (const { step, state, attempts } of begun) {
    const row = rowAt(
      plan,
      { id: `f:${step.name}`, step, direction: 'forward', state, attempts, nothing: false },
      y,
    )
    rows.push(row)
    y += row.height
  }
  const axis = y + 15
  const hasUndo = plan.stoppedAt !== undefined
  y = axis + (hasUndo || previews ? 23 : 8)
  if (hasUndo)
    for (const { step, state } of begun.toReversed()) {
      const attempts = begunAttempts(plan, step, 'undo')
      const nothing = state.undo === undefined
      const row = rowAt(plan, { id: `u:${step.name}`, step, direction: 'undo', state, attempts, nothing }, y)
      rows.push(row)
      y += row.height
    }
  const previewTop = y
  const running = begun.flatMap(({ step, state }) => (state.forward === 'running' ? [step.name] : []))
  return { rows, notBegun, running, axis, hasUndo, previewTop, height: Math.ceil(y + previewed * 24 + 8) }
}

function begunStep(plan: Unplaced, step: ViewStep) {
  const state = stateAt(plan.run, step, plan.at, plan.round)
  const attempts = begunAttempts(plan, step, 'forward')
  // Skipped by its condition: its handler was not called.
  const isCalled = attempts.some(({ ended }) => ended !== 'skipped')
  const isShown = isCalled || !['pending', 'skipped', 'cancelled'].includes(state.forward)
  return { step, state, attempts, isShown }
}

function whyNotBegun(
  { step: { name, skipped }, state: { forward } }: Pick<PlannedRow, 'step' | 'state'>,
  { stoppedAt }: Unplaced,
): Plan['notBegun'][number] {
  if (forward === 'skipped')
    return { step: name, why: `skipped${skipped === undefined ? '' : `: ${skipped}`}` }
  if (forward === 'cancelled') return { step: name, why: 'cancelled before it began' }
  return { step: name, why: stoppedAt === undefined ? 'not begun' : 'not begun when the run stopped' }
}

function begunAttempts({ at, round }: Unplaced, step: ViewStep, direction: ViewAttempt['direction']) {
  return attemptsOf(step, direction, roundOf(step, round)).filter(({ startAt }) => startAt <= at)
}

function rowAt(plan: Unplaced, row: Omit<PlannedRow, 'y' | 'height' | 'center'>, y: number): PlannedRow {
  const { rowHeight, narrow, actions } = plan
  if (row.nothing)
    return { ...row, y, height: narrow ? 24 : Math.min(rowHeight, 22), center: y + (narrow ? 12 : 11) }
  const lanes = lanesHeight(row)
  const bar = rowHeight + lanes - plan.barHeight
  const center = narrow ? y + 15 + (bar - 15 + plan.barHeight) / 2 : y + (rowHeight + lanes) / 2
  const buttons = narrow && actions > 0 ? 36 : 0
  const note = row.direction === 'undo' && row.state.undo === 'parked' ? (narrow ? 38 : 32) + buttons : 0
  return { ...row, y, height: rowHeight + lanes + note, center }
}

/** How much higher a map's bars are than a single one. */
export function lanesHeight({ step, direction }: Pick<PlannedRow, 'step' | 'direction'>): number {
  const { total = 0, some = [] } = step.items ?? {}
  const isKnown = some.some(
    (item) => (direction === 'forward' ? item.startAt : item.undoStartAt) !== undefined,
  )
  if (!isKnown) return 0
  return direction === 'forward' && Math.max(total, some.length) > 60 ? 46 : 18
}

/** The dependents of a row's step, or what it depends on, as ids; and the row of its other direction. For the hover. */
export function links(
  run: ViewRun,
  row: Pick<PlannedRow, 'id' | 'direction'> & { readonly step: string },
): RowLinks {
  const { step, dependents } = indexOf(run)
  if (row.direction === 'forward') {
    const waitsFor = (step.get(row.step)?.dependsOn ?? []).map((name) => `f:${name}`)
    return { waitsFor, twin: `u:${row.step}` }
  }
  return { waitsFor: (dependents.get(row.step) ?? []).map((name) => `u:${name}`), twin: `f:${row.step}` }
}

export interface RowLinks {
  readonly waitsFor: readonly string[]
  readonly twin: string
}
