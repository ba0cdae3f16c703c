import type { ParkedExample, ParkedGroup } from '../api/parked.ts'
import { grouped } from '../grouped.ts'
import { listedSteps } from '../view/listed-steps.ts'
import type { Texts } from '../view/texts.ts'
import type { ParkedRun } from './inbox.ts'
import type { ParkedUndo } from './parked-in.ts'

const EXAMPLES = 5
const TIMES = 24
const ERROR_MAX = 1_000

interface Parked extends ParkedUndo {
  readonly text: string
  readonly in: ParkedRun
}

/** One cause is one group: the same workflow and version, step and error, as far as the viewer may see it. Those with the most runs first. */
export function groupsOf(runs: readonly ParkedRun[], readAt: number, texts: Texts): readonly ParkedGroup[] {
  const all = runs.flatMap((one) =>
    one.undos.map((undo): Parked => {
      const text = undo.error === undefined ? 'No error is known.' : texts.error(undo.error, undo.step)
      return { ...undo, text: text.slice(0, ERROR_MAX), in: one }
    }),
  )
  const keyOf = ({ in: { run }, of, text }: Parked) => JSON.stringify([run.workflow, run.version, of, text])
  return [...grouped(all, keyOf).values()]
    .map((undos) => groupOf(undos, readAt))
    .toSorted((one, other) => other.runs.length - one.runs.length || other.last - one.last)
}

function groupOf(undos: readonly Parked[], readAt: number): ParkedGroup {
  const [first] = undos
  const { workflow, version } = first!.in.run
  const runs = [...new Set(undos.map((undo) => undo.in))]
  const times = undos.map(({ since }) => since)
  const [since, last] = range(times)
  const steps = new Set(undos.map(({ step }) => step))
  return {
    ...{ workflow, version, since, last },
    step: first!.of,
    ...(steps.size === 1 ? { repairs: first!.step } : {}),
    error: first!.text,
    runs: runs.map(({ run }) => run.id),
    undos: undos.length,
    times: histogram(times, since, readAt),
    attempts: range(undos.map(({ attempts }) => attempts)),
    remain: runs.reduce((sum, { remain }) => sum + remain, 0),
    examples: undos.slice(0, EXAMPLES).map(exampleOf),
  }
}

function exampleOf({ step, since, in: { run, remain } }: Parked): ParkedExample {
  const { id, key } = run
  return { ...{ id, key, step, since, remain }, steps: listedSteps(run) }
}

function range(figures: readonly number[]): readonly [number, number] {
  return [Math.min(...figures), Math.max(...figures)]
}

function histogram(times: readonly number[], from: number, until: number): readonly number[] {
  const counts = Array.from({ length: TIMES }, () => 0)
  const span = Math.max(1, until - from)
  for (const at of times) {
    const part = Math.floor(((at - from) / span) * TIMES)
    counts[Math.min(TIMES - 1, part)]! += 1
  }
  return counts
}
