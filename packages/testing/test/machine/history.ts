import type { Random } from '../../src/conformance/differential/random.ts'
import type { Definition } from './definitions.ts'
import type { Ask, Happening, RunAction, StepAction, View } from './view.ts'

/** What happens next to a run that looks like this. */
export type History = (view: View) => Happening | undefined

/** A random history. Some have many failures, and some few. */
export function historyOf(random: Random, definition: Definition): History {
  const mood = random.pick([0.3, 1, 1, 3])
  let left = 40
  let isOver = false
  return (view) => {
    // Nothing happens to a completed run any more: operators try.
    if (view.run === 'completed' && !isOver) [isOver, left] = [true, 3]
    left -= 1
    return left < 0 ? undefined : nextHappening(random, definition, view, mood)
  }
}

function nextHappening(random: Random, definition: Definition, view: View, mood: number): Happening {
  const asks = Object.entries(view.asks)
  const kind = random.weighted({
    answer: asks.length > 0 ? 70 : 0,
    pass: 8,
    takeover: 2,
    signal: 5,
    operate: asks.length > 0 ? 14 : 40,
  })
  if (kind === 'answer') return answered(random, mood, ...random.pick(asks))
  if (kind === 'pass') return { does: 'pass', ms: random.pick([500, 1_000, 3_000, 10_000]) }
  if (kind === 'takeover') return { does: 'takeover' }
  const signals = definition.shape.steps.filter((step) => step.kind === 'signal' || step.kind === 'approval')
  if (kind === 'signal' && signals.length > 0) {
    const { name, kind: of } = random.pick(signals)
    return { does: 'signal', unit: name, rejects: of === 'approval' && random.chance(0.4) }
  }
  return operated(random, view)
}

function answered(random: Random, mood: number, unit: string, { phase }: Ask): Happening {
  const isRun = phase === 'run'
  const does = random.weighted({
    complete: 64,
    fail: 10 * mood,
    tryAgain: 12 * mood,
    release: 5,
    lose: 6,
    succeedUnstorably: isRun ? 4 * mood : 0,
  })
  switch (does) {
    case 'complete':
      return {
        does,
        unit,
        yes: random.chance(0.7),
        items: random.below(4),
        output: random.pick(['x', 'y']),
        laterMs: random.pick([0, 0, 1_000]),
      }
    case 'tryAgain':
      return { does, unit, delayMs: random.pick([0, 1_000, 5_000]) }
    default:
      return { does, unit }
  }
}

function operated(random: Random, { run, units }: View): Happening {
  const isOver = ['failed', 'compensated', 'cancelled'].includes(run)
  const action = random.weighted({
    ...{ pause: 10, resume: run === 'paused' ? 40 : 4, cancel: 5, abandon: 3, retry: isOver ? 30 : 3 },
    ...{ retryStep: 10, skipStep: 10, giveUpStep: 6 },
    ...(run.startsWith('compensat') || run === 'paused'
      ? { retryCompensation: 15, skipCompensation: 12 }
      : { retryCompensation: 2, skipCompensation: 2 }),
  })
  if (isOfRun(action)) return { does: 'operate', action }
  return { does: 'operate', action, unit: random.pick(Object.keys(units)) }
}

const OF_RUN: ReadonlySet<string> = new Set(['pause', 'resume', 'cancel', 'abandon', 'retry'])

function isOfRun(action: RunAction | StepAction): action is RunAction {
  return OF_RUN.has(action)
}
