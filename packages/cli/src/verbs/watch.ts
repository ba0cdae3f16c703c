import type { Explanation } from '@belay/workflow'
import { type Duration, durationMs } from '@belay/workflow/adapter'
import type { Call } from '../call.ts'
import { misused } from '../cli-error.ts'
import type { ExitStatus } from '../exit-status.ts'
import { laneLines } from '../lanes/lines.ts'
import { nameOf, runNamed } from '../runs/names.ts'
import { documentOf, type RunWithGraph, readRunWithGraph, withoutPayloads } from '../runs/read-run.ts'
import { isOver, type StepLine, stepLines } from '../runs/step-details.ts'
import type { Store } from '../store/store.ts'
import { LiveScreen, openKeys } from '../terminal/live-screen.ts'
import type { Output } from '../terminal/output.ts'
import { wrap } from '../terminal/text.ts'
import { clockSpan } from '../terminal/time.ts'
import { explanationLines } from './explain.ts'
import { failureOf, titleOf } from './show.ts'
import { watchSentences } from './watch-sentences.ts'

const INTERVAL_DEFAULT = '1s'

/** `belay watch`. */
export async function run(call: Call): Promise<ExitStatus | undefined> {
  const { args, connect, flags, out } = call
  const name = args['run']
  if ((name === undefined) === (flags.all !== true))
    throw misused('Name one run, or give --all.', 'watch --all')
  const intervalMs = durationMs((flags.interval ?? INTERVAL_DEFAULT) as Duration, '--interval')
  const store = await connect()
  if (name === undefined) {
    const { watchAll } = await import('./watch-all.ts')
    return watchAll(call, store, intervalMs)
  }
  const { id } = await runNamed(store, name)
  if (out.json) return watchRecords(call, store, { id, intervalMs })
  if (out.plain || !out.isTerminal) return watchSentences(call, store, id)
  return watchScreen(call, store, { id, intervalMs })
}

interface Watched {
  readonly id: string
  readonly intervalMs: number
}

/** The run as it goes on, one document a line for each change that was seen. */
async function watchRecords(
  { out, flags, signal }: Call,
  store: Store,
  { id, intervalMs }: Watched,
): Promise<ExitStatus> {
  const keys = openKeys(undefined, signal)
  let seen: RunWithGraph | undefined
  let last = ''
  try {
    for (;;) {
      seen = await readRunWithGraph(store, id, seen)
      const { readAt, ...state } = seen.run
      const text = JSON.stringify(state)
      if (text !== last) out.record(documentOf(flags.payloads ? seen.run : withoutPayloads(seen.run)))
      last = text
      if (isOver(seen.run, stepLines(seen.run, seen.graph, out)))
        return seen.run.status === 'completed' ? 0 : 1
      if ((await keys.next(intervalMs)) === 'leave') return 1
    }
  } finally {
    keys.close()
  }
}

/** The lines of `show`, drawn again in place. */
async function watchScreen(call: Call, store: Store, { id, intervalMs }: Watched): Promise<ExitStatus> {
  const { out, process, signal } = call
  const screen = new LiveScreen(out)
  const keys = openKeys(process.stdin, signal)
  let [seen, view]: [RunWithGraph | undefined, View] = [undefined, 'graph']
  screen.begin()
  try {
    for (;;) {
      seen = await readRunWithGraph(store, id, seen)
      const lines = stepLines(seen.run, seen.graph, out)
      const explanation = view === 'explain' ? await store.engine.explain(id) : undefined
      const rows = process.stdout.rows ?? Number.POSITIVE_INFINITY
      if (isOver(seen.run, lines)) {
        screen.draw(fitted(frame(out, seen, { lines }), rows, lines))
        return seen.run.status === 'completed' ? 0 : 1
      }
      const shown = frame(out, seen, { lines, explanation })
      const footer = keys.isOpen ? [out.paint(FOOTERS[view], 'dim')] : []
      screen.draw([...fitted(shown, rows - footer.length, lines), ...footer])
      const key = await keys.next(intervalMs)
      if (key === 'q' || key === 'leave') {
        screen.draw(fitted(shown, rows, lines))
        out.note(`The run goes on: belay watch ${nameOf(seen.run)}`)
        return 1
      }
      view = key === undefined ? view : (KEYS[key]?.[view] ?? view)
    }
  } finally {
    keys.close()
    screen.end()
  }
}

type View = 'graph' | 'explain' | 'keys'

const FOOTERS: Readonly<Record<View, string>> = {
  graph: 'q leave (the run goes on)   e explain   ? keys',
  explain: 'q leave (the run goes on)   e graph   ? keys',
  keys: 'q, Ctrl-C: leave; the run goes on.   e: why it stands still.   ?: fewer words.',
}

/** What a key makes of the view. */
const KEYS: Readonly<Record<string, Readonly<Record<View, View>>>> = {
  e: { graph: 'explain', explain: 'graph', keys: 'explain' },
  '?': { graph: 'keys', explain: 'keys', keys: 'graph' },
}

/** One frame: a function of the run as it was read. Its times are from the store's clock. */
function frame(
  out: Output,
  { run }: RunWithGraph,
  {
    lines,
    explanation,
  }: { readonly lines: readonly StepLine[]; readonly explanation?: Explanation | undefined },
): readonly string[] {
  const { createdAt, finishedAt, readAt } = run
  const failure = failureOf(run)
  return [
    titleOf(out, run, [clockSpan((finishedAt ?? readAt).getTime() - createdAt.getTime())]),
    '',
    ...(explanation === undefined
      ? laneLines(out, lines)
      : explanationLines({ out, explanation, about: run, all: false, now: readAt })),
    ...(failure === undefined ? [] : wrap(failure, out.columns)),
  ]
}

/** As much of a frame as a terminal has rows for: its beginning, and the lines around the first step that has not ended. */
function fitted(lines: readonly string[], rows: number, steps: readonly StepLine[]): readonly string[] {
  // The cursor stands in the row below.
  const room = rows - 1
  if (lines.length <= room) return lines
  const open = steps.findIndex(({ mark }) => OPEN.has(mark))
  const count = Math.max(1, room - 3)
  const from = Math.min(Math.max(2, open), lines.length - count)
  return [
    ...lines.slice(0, 2),
    ...lines.slice(from, from + count),
    `  ${lines.length - count - 2} more lines`,
  ]
}

const OPEN: ReadonlySet<string> = new Set([
  'ready',
  'running',
  'waiting',
  'compensating',
  'compensation_failed',
])
