import { fitted, padded, type SpareLine, wrapped } from './fitting.ts'
import { isBackwards, type RunView, type StepState, type StepView } from './run-view.ts'
import type { Colours, Screen } from './screen.ts'

const SPINNER = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100

/** Redraws a run's graph on the terminal until it is told to stop. */
export class LiveGraph {
  #view: RunView
  #frame = 0
  readonly #screen: Screen
  readonly #timer: NodeJS.Timeout

  constructor(screen: Screen, view: RunView) {
    this.#screen = screen
    this.#view = view
    this.#timer = setInterval(() => this.#draw(), FRAME_MS)
    this.#draw()
  }

  show(view: RunView): void {
    this.#view = view
    this.#draw()
  }

  /** Draws a last time and leaves the drawing on the screen. */
  end(view: RunView): void {
    clearInterval(this.#timer)
    this.show(view)
    this.#screen.keep()
  }

  #draw(): void {
    this.#frame += 1
    const { colours } = this.#screen
    this.#screen.draw((size) => {
      const lines = graphLines(this.#view, { colours, frame: this.#frame, columns: size.columns })
      return fitted(lines, size)
    })
  }
}

interface Look {
  readonly colours: Colours
  /** Of the spinner. */
  readonly frame: number
  readonly columns: number
}

/**
 * The graph as lines: steps that can run in parallel stand together, and arrows between them show the run's direction. A small terminal can do
 * without the arrows.
 */
export function graphLines(view: RunView, look: Look): readonly (string | SpareLine)[] {
  const { colours, columns } = look
  const arrow = isBackwards(view) ? colours.yellow('▲') : colours.dim('▼')
  const nameWidth = Math.max(...view.steps.map(({ name }) => name.length))
  const graph = ranksOf(view.steps).flatMap((rank, index) => [
    ...(index === 0 ? [] : [{ spare: `   ${arrow}` }]),
    ...rank.map((step, position) => {
      const bracket =
        rank.length === 1 ? '─' : position === 0 ? '┌' : position === rank.length - 1 ? '└' : '├'
      return `  ${colours.dim(bracket)} ${stepLine(step, look, nameWidth)}`
    }),
  ])
  const errors = view.steps
    .filter(({ error, state }) => error !== undefined && state !== 'undone')
    .flatMap(({ name, error }) => wrapped(`  ${name}: ${error}`, columns).map((line) => colours.dim(line)))
  return [...graph, `  ${colours.dim(`run ${view.status}`)}`, ...errors]
}

/** From so many columns on there is room for how long a step took. */
const TIMES_MIN_COLUMNS = 72

function stepLine(step: StepView, { colours, frame, columns }: Look, nameWidth: number): string {
  const { symbol, paint } = markOf(step.state, colours)
  const mark = symbol === SPINNER[0] ? SPINNER[frame % SPINNER.length]! : symbol
  const tries = step.attempt === 0 ? '' : step.attempt === 1 ? '1 attempt' : `${step.attempt} attempts`
  const took = step.durationMs === undefined ? '' : `${Math.round(step.durationMs)} ms`
  const cells = [
    `${paint(mark)} ${padded(step.name, nameWidth)}`,
    paint(padded(step.state, 11)),
    padded(tries, 10),
    ...(columns < TIMES_MIN_COLUMNS ? [] : [took.padStart(8)]),
    ...(step.worker === undefined ? [] : [step.worker]),
  ]
  return cells.join('  ').trimEnd()
}

function markOf(state: StepState, { dim, cyan, green, red, yellow }: Colours) {
  switch (state) {
    case 'waiting':
      return { symbol: '·', paint: dim }
    case 'running':
      return { symbol: SPINNER[0], paint: cyan }
    case 'orphaned':
      return { symbol: '!', paint: red }
    case 'retrying':
      return { symbol: '↻', paint: yellow }
    case 'done':
      return { symbol: '✔', paint: green }
    case 'failed':
    case 'undo failed':
      return { symbol: '✘', paint: red }
    case 'not done':
      return { symbol: '-', paint: dim }
    case 'to undo':
      return { symbol: '·', paint: yellow }
    case 'undoing':
      return { symbol: SPINNER[0], paint: yellow }
    case 'undone':
      return { symbol: '↩', paint: yellow }
  }
}

/** Steps by depth: a step is one rank below the deepest of its dependencies. */
function ranksOf(steps: readonly StepView[]): readonly (readonly StepView[])[] {
  const rankOf = new Map<string, number>()
  const ranks: StepView[][] = []
  // Steps come in topological order, so a step's dependencies already have their ranks.
  for (const step of steps) {
    const rank = Math.max(-1, ...step.dependsOn.map((name) => rankOf.get(name)!)) + 1
    rankOf.set(step.name, rank)
    const members = ranks[rank] ?? []
    members.push(step)
    ranks[rank] = members
  }
  return ranks
}
