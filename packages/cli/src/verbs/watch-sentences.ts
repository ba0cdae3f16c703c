import type { RunSnapshot, WatchedChange } from '@belay/workflow'
import type { Call } from '../call.ts'
import type { ExitStatus } from '../exit-status.ts'
import { readRunWithGraph } from '../runs/read-run.ts'
import { stepLines } from '../runs/step-details.ts'
import type { Store } from '../store/store.ts'
import { safe } from '../terminal/text.ts'
import { failureOf, sentences } from './show.ts'

/** How the run is, and then a sentence for each change, with its time. */
export async function watchSentences({ out, signal }: Call, store: Store, id: string): Promise<ExitStatus> {
  const { engine } = store
  const aheadMs = (await store.now()).getTime() - Date.now()
  const { run: first, graph } = await readRunWithGraph(store, id)
  for (const sentence of sentences(first, stepLines(first, graph, out), out)) out.line(sentence)
  const told = toldBy(first)
  try {
    for await (const change of engine.runs.handle(id).watch({ signal })) {
      const [about, state] = stateOf(change)
      // The watch begins with the present state, which was told.
      const isTold = told.get(about) === state
      told.delete(about)
      const sentence = isTold ? undefined : sentenceOf(change)
      const at = new Date(Date.now() + aheadMs).toISOString()
      if (sentence !== undefined) out.line(`${out.isTerminal ? at.slice(11, 19) : at} ${safe(sentence)}`)
    }
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'watch_aborted') return 1
    throw error
  }
  const run = await engine.runs.get(id)
  const failure = run === undefined ? undefined : failureOf(run)
  if (failure !== undefined && failure !== failureOf(first)) out.line(failure)
  return run?.status === 'completed' ? 0 : 1
}

function toldBy({ status, steps }: RunSnapshot): Map<string, string> {
  const changes: readonly WatchedChange[] = [
    { type: 'run', status, cause: undefined },
    ...steps.map(({ name, ...step }): WatchedChange => ({ ...step, type: 'step', step: name })),
    ...steps.flatMap(({ name, progress }): WatchedChange[] =>
      progress === undefined ? [] : [{ ...progress, type: 'progress', step: name }],
    ),
  ]
  return new Map(changes.map(stateOf))
}

/** What a change is about, and its new state. */
function stateOf(change: WatchedChange): readonly [string, string] {
  switch (change.type) {
    case 'run':
      return ['run', change.status]
    case 'step':
      return [`step ${change.step}`, `${change.status} ${change.attempts}`]
    case 'progress':
      return [`progress ${change.step}`, `${change.done} ${change.total}`]
    case 'value':
      return [`value ${change.key}`, '']
  }
}

function sentenceOf(change: WatchedChange): string | undefined {
  if (change.type === 'run') return `The run is ${change.status}.`
  if (change.type === 'progress') {
    const { step, done, total } = change
    return `${step}: ${done}${total === undefined ? ' done' : ` of ${total}`}.`
  }
  // What a run publishes may be private.
  if (change.type === 'value' || change.step.endsWith('[]')) return undefined
  const { step, status, attempts, error } = change
  const what = WORDS[status]
  if (what === undefined) return undefined
  const tried = attempts > 0 && COUNTED.has(status) ? `, attempt ${attempts}` : ''
  const why = error !== undefined && TROUBLED.has(status) ? `: ${error.message.replace(/\.$/, '')}` : ''
  return `${step} ${what}${tried}${why}.`
}

const COUNTED: ReadonlySet<string> = new Set(['running', 'failed'])
const TROUBLED: ReadonlySet<string> = new Set(['failed', 'ready', 'compensating', 'compensation_failed'])

const WORDS: Readonly<Record<string, string>> = {
  ready: 'is ready',
  running: 'is running',
  waiting: 'waits',
  completed: 'completed',
  failed: 'failed',
  skipped: 'was skipped',
  cancelled: 'was cancelled',
  compensating: 'is being undone',
  compensated: 'was undone',
  compensation_failed: 'could not be undone',
}
