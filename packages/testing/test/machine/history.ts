import type { Random } from '../../src/conformance/differential/random.ts'
import type { Definition } from './definitions.ts'
import type { Ask, Happening, RunAction, StepAction, View } from './view.ts'

/** What happens next to a run that looks like this; undefined: nothing can any more. */
export function nextHappening(random: Random, definition: Definition, view: View): Happening {
  const asks = Object.entries(view.asks)
  const kind = random.weighted({
    answer: asks.length > 0 ? 70 : 0,
    pass: 8,
    signal: 5,
    operate: asks.length > 0 ? 14 : 40,
  })
  if (kind === 'answer') return answered(random, ...random.pick(asks))
  if (kind === 'pass') return { does: 'pass', ms: random.pick([500, 1_000, 3_000, 10_000]) }
  const signals = definition.shape.steps.filter((step) => step.kind === 'signal')
  if (kind === 'signal' && signals.length > 0) return { does: 'signal', unit: random.pick(signals).name }
  return operated(random, view)
}

function answered(random: Random, unit: string, { phase }: Ask): Happening {
  const isRun = phase === 'run'
  const does = random.weighted({
    complete: 64,
    fail: 10,
    tryAgain: 12,
    release: 5,
    lose: 6,
    succeedUnstorably: isRun ? 4 : 0,
  })
  switch (does) {
    case 'complete':
      return { does, unit, yes: random.chance(0.7), items: random.below(4), output: random.pick(['x', 'y']) }
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
