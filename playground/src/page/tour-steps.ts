import { PRESETS } from '../presets/index.ts'
import type { State } from './model.ts'

/** What a step of the tour decides by: what the reader did, never the time that passed. */
export interface Moment {
  readonly state: State
  readonly preset: string
  /** When this step began, by the page's clock. */
  readonly since: number
  /** The run that was selected when this step began. */
  readonly before: string | undefined
}

export interface TourStep {
  readonly preset?: string
  readonly sentence: string
  /** A selector of what to press, or to look at. */
  readonly target?: (state: State) => string | undefined
  /** The reader only watches: focus stays where it is. */
  readonly isWatched?: boolean
  readonly isDone: (moment: Moment) => boolean
  /** It cannot be done any more: the step before it begins again. */
  readonly isMissed?: (moment: Moment) => boolean
}

const runOf = ({ look, selected }: State) => (look?.run.id === selected ? look?.run : undefined)
const hasEnded = ({ state }: Moment) => runOf(state)?.finishedAt !== undefined
const newRun = ({ state, before }: Moment) => (state.selected === before ? undefined : runOf(state))
const heldOfRun = ({ workers, selected }: State, state: 'live' | 'crashed') =>
  workers.filter((one) => one.state === state && one.steps.some(({ runId }) => runId === selected))

function choose(preset: string): TourStep {
  const title = PRESETS.find(({ name }) => name === preset)?.title ?? ''
  return {
    preset,
    sentence: `Choose the example “${title}”.`,
    target: () => '[data-tour=preset]',
    isDone: (moment) => moment.preset === preset && moment.state.phase === 'playing',
  }
}

const START = () => '[data-tour=start]'

const CRASH: readonly TourStep[] = [
  choose('crash'),
  {
    preset: 'crash',
    sentence: 'Start a run: an order that takes stock, charges a card and sends a mail.',
    target: START,
    isDone: (moment) => newRun(moment) !== undefined,
  },
  {
    preset: 'crash',
    sentence: 'Crash the worker that executes a step of it. Its thread really ends.',
    target: (state) => {
      const [worker] = heldOfRun(state, 'live')
      return worker && `[data-worker=${worker.name}]`
    },
    isDone: ({ state, since }) => heldOfRun(state, 'crashed').some((worker) => worker.since >= since),
    isMissed: hasEnded,
  },
  {
    preset: 'crash',
    sentence: 'Nobody renews its lease now. Once the lease has ended, another worker takes the step over.',
    target: () => '.worker.crashed',
    isWatched: true,
    isDone: ({ state }) => heldOfRun(state, 'crashed').length === 0,
  },
  {
    preset: 'crash',
    sentence:
      'It calls the service with the same key, so nobody is charged twice. See the ledger at the end.',
    target: () => '.balance',
    isWatched: true,
    isDone: hasEnded,
  },
]

const UNDO: readonly TourStep[] = [
  choose('undo'),
  {
    preset: 'undo',
    sentence: 'Start a run. Every other order finds no courier: if this one completes, start the next.',
    target: START,
    isDone: (moment) => newRun(moment)?.stoppedAt !== undefined,
  },
  {
    preset: 'undo',
    sentence:
      'A step failed. What was done is undone in reverse order: see beneath the axis of the timeline.',
    target: () => '.drawings',
    isWatched: true,
    isDone: hasEnded,
  },
]

const PARKED: readonly TourStep[] = [
  choose('parked'),
  {
    preset: 'parked',
    sentence: 'Start a run: it is undone, but the card service is closed when the refund comes.',
    target: START,
    isDone: (moment) => newRun(moment)?.status === 'compensation_failed',
  },
  {
    preset: 'parked',
    sentence: 'Its undo is parked, and waits for a person. Open the card service again.',
    target: () => '[data-service=card]',
    isDone: ({ state }) => state.services.every(({ open }) => open),
  },
  {
    preset: 'parked',
    sentence: 'Now retry the undo.',
    target: () => '[data-verb=retryCompensation]',
    isDone: ({ state }) => runOf(state)?.status !== 'compensation_failed',
  },
  {
    preset: 'parked',
    sentence: 'It goes on where it failed, and undoes the rest.',
    target: () => '.drawings',
    isWatched: true,
    isDone: hasEnded,
  },
]

const END: TourStep = {
  sentence: 'That was the tour. Change the code, ask the database in SQL, or crash all workers at once.',
  isDone: () => false,
}

/** A part of the tour whose example is not there is left out. */
export const TOUR: readonly TourStep[] = [...CRASH, ...UNDO, ...PARKED, END].filter(
  ({ preset }) => preset === undefined || PRESETS.some(({ name }) => name === preset),
)

/** Where the tour stands after this moment. */
export function nextIndex(index: number, moment: Moment): number {
  const { isDone, isMissed } = TOUR[index]!
  if (isDone(moment)) return index + 1
  return isMissed?.(moment) === true ? index - 1 : index
}
