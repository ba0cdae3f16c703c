import { fitted, type Size, type SpareLine, widthOf, wrapped } from '../terminal/fitting.ts'
import { graphLines } from '../terminal/live-graph.ts'
import type { RunView } from '../terminal/run-view.ts'
import type { Colours } from '../terminal/screen.ts'
import { requestNews } from './news.ts'
import type { Sight, WorkerSight } from './sight.ts'

/** What a page about an order shows. */
export interface OrderPage {
  readonly title: string
  readonly sight: Sight
  /** The names of the undone steps, in the order in which they were undone. Undefined if nothing is to be undone. */
  readonly undone: readonly string[] | undefined
  /** What has happened, the newest last. */
  readonly news: readonly string[]
  /** The checks, once the run has ended. */
  readonly checks: readonly string[]
  readonly footer: string
}

interface Look {
  readonly colours: Colours
  /** Of the spinner. */
  readonly frame: number
  readonly leaseMs: number
}

/** More if there is room. */
const NEWS_MIN = 3
const BAR_CELLS = 12
/** From so many columns on there is room for the numbers of processes. */
const PIDS_MIN_COLUMNS = 72

/** The page as lines that fit on a terminal of this size: a pure function. */
export function orderPageLines(page: OrderPage, look: Look, size: Size): readonly string[] {
  const { sight, checks, news, title } = page
  const wrap = (line: string) => wrapped(line, size.columns)
  const hasEnded = checks.length > 0
  const above = [
    ...wrap(look.colours.bold(title)),
    { spare: '' },
    ...(hasEnded ? [] : [...workerLines(sight, look, size), { spare: '' }]),
    ...graphLines(withoutErrors(sight.view), { ...look, columns: size.columns }),
    ...undoneLines(page, look.colours, wrap),
    ...requestLines(page, look.colours, wrap),
    { spare: '' },
  ]
  const below = checks.flatMap(wrap)
  const footer = ['', ...wrap(page.footer)]
  // The footer stands, whatever else must be left out.
  const rows = size.rows - footer.length
  const newest = newestLines(
    news.map((line) => wrap(`  ${look.colours.dim('›')} ${line}`)),
    { itemsMin: hasEnded ? 0 : NEWS_MIN, linesMax: rows - above.length - below.length - 1 },
  )
  const middle = newest.length > 0 && hasEnded ? [...newest, { spare: '' }] : newest
  return [...fitted([...above, ...middle, ...below], { ...size, rows }), ...footer].slice(0, size.rows)
}

/** The lines of as many of the newest items as there is room for, or of a few more. */
function newestLines(
  items: readonly (readonly string[])[],
  { itemsMin, linesMax }: { readonly itemsMin: number; readonly linesMax: number },
): readonly string[] {
  const shown: string[] = []
  for (const [index, lines] of items.toReversed().entries()) {
    if (index >= itemsMin && shown.length + lines.length > linesMax) break
    shown.unshift(...lines)
  }
  return shown
}

function workerLines({ workers }: Sight, look: Look, { columns }: Size): readonly (string | SpareLine)[] {
  return workers.map((worker) => workerLine(worker, look, columns))
}

function workerLine(
  { name, pid, isKilled, holds, leaseMs }: WorkerSight,
  { colours: { green, red, dim, yellow }, leaseMs: leaseMaxMs }: Look,
  columns: number,
): string {
  const what = holds.length === 0 ? 'holds nothing' : `holds ${holds.join(', ')}`
  const who = columns < PIDS_MIN_COLUMNS ? name : `${name}  pid ${String(pid).padEnd(7)}`
  if (!isKilled) return `  ${green('●')} ${who}  ${holds.length === 0 ? dim(what) : what}`
  if (leaseMs === undefined || holds.length === 0)
    return `  ${red('✘')} ${who}  ${dim('killed, holds nothing')}`
  const lease = `lease ends in ${(leaseMs / 1_000).toFixed(1)} s`
  const line = `  ${red('✘')} ${who}  killed, ${what}; ${yellow(lease)} `
  const cells = Math.min(BAR_CELLS, columns - widthOf(line))
  const full = Math.round((cells * Math.min(leaseMs, leaseMaxMs)) / leaseMaxMs)
  return cells < 4 ? line.trimEnd() : line + yellow('█'.repeat(full)) + dim('░'.repeat(cells - full))
}

/** Whole sentences tell the errors. */
function withoutErrors(view: RunView): RunView {
  return { ...view, steps: view.steps.map((step) => ({ ...step, error: undefined })) }
}

function undoneLines(
  { undone, sight }: OrderPage,
  { bold, yellow }: Colours,
  wrap: (line: string) => readonly string[],
): readonly (string | SpareLine)[] {
  if (undone === undefined) return []
  const failed = sight.view.steps.find(({ state }) => state === 'failed')
  return [
    { spare: '' },
    ...(failed === undefined ? [] : wrap(`${failed.name} failed for good: ${failed.error}.`)),
    bold('Undone, in this order:'),
    ...undone.map((name, index) => {
      const { worker, durationMs } = sight.view.steps.find((step) => step.name === name)!
      const by = worker === undefined ? '' : `by ${worker}`
      return `  ${index + 1}. ${yellow('↩')} ${name.padEnd(16)}  ${by}  ${Math.round(durationMs ?? 0)} ms`
    }),
  ]
}

function requestLines(
  { sight, undone }: OrderPage,
  { bold }: Colours,
  wrap: (line: string) => readonly string[],
): readonly (string | SpareLine)[] {
  // In an undo there is no room for it, and nothing new in it.
  if (undone !== undefined || sight.requests.length === 0) return []
  return [
    { spare: '' },
    bold('What the card network was asked:'),
    ...sight.requests.flatMap((request, index) => wrap(`  ${index + 1}. ${requestNews(request)}`)),
  ]
}
