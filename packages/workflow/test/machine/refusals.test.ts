import { expect, it } from 'vitest'
import { define } from '../../src/definition/index.ts'
import type { MachineEvent } from '../../src/machine/index.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import { Driver } from './driver.ts'

const run = () => 1
const compensate = () => {}
const order = define('order', { version: 1 })
  .step('reserve', { run, compensate })
  .step('charge', { dependsOn: ['reserve'], run, pivot: true })
  .waitForSignal('paid', { dependsOn: ['charge'] })

const begun = (): Driver => new Driver(specOfShape(order.record.shape))

/** How far the run is, by what was done with it. */
const STATES = {
  begun: () => {},
  paused: (driver: Driver) => driver.fold({ type: 'pause' }),
  'past its pivot': (driver: Driver) => {
    driver.done('reserve')
    driver.done('charge')
    driver.done('paid')
  },
  undoing: (driver: Driver) => {
    driver.done('reserve')
    driver.fails('charge')
  },
  parked: (driver: Driver) => {
    STATES.undoing(driver)
    driver.fails('reserve')
  },
  failed: (driver: Driver) => {
    driver.fails('reserve')
  },
  completed: (driver: Driver) => {
    STATES['past its pivot'](driver)
    driver.tell(['paid'], {})
  },
} as const satisfies Readonly<Record<string, (driver: Driver) => unknown>>

type Asked = (driver: Driver) => MachineEvent

const on = (type: 'retryStep' | 'skipStep' | 'retryUndo' | 'skipUndo', name: string): Asked => {
  return (driver) => ({ type, unit: driver.at(name).no })
}

const gaveUp =
  (name: string, reason = 'its machine burned'): Asked =>
  (driver) => ({ type: 'giveUp', unit: driver.at(name).no, reason })

const REFUSALS: readonly (readonly [
  state: keyof typeof STATES,
  asked: MachineEvent | Asked,
  what: string,
  remedy?: string,
])[] = [
  ['failed', { type: 'pause' }, 'cannot be paused: it has ended as failed.'],
  ['failed', { type: 'resume' }, 'cannot be resumed: it has ended as failed.'],
  [
    'begun',
    { type: 'retry' },
    'cannot be retried: it is running.',
    'Nothing in it has failed for good. To bring the next try of a step forward, retry that step.',
  ],
  ['paused', { type: 'retry' }, 'cannot be retried: it is paused.', 'Resume it.'],
  ['undoing', { type: 'retry' }, 'cannot be retried: it is being undone.', 'Wait until its undo has ended.'],
  [
    'parked',
    { type: 'retry' },
    'cannot be retried: its undo is parked, because that of a step failed.',
    'Repair the parked undo first: retry it, or mark it as undone.',
  ],
  ['completed', { type: 'retry' }, 'cannot be retried: it has completed.', 'Start another run.'],
  [
    'past its pivot',
    { type: 'cancel' },
    'cannot be cancelled: its pivot "charge" has completed, so it cannot be undone any more.',
    'Let it go on, or cancel it without its undo (`compensate: false`), which leaves every effect as it is.',
  ],
  [
    'undoing',
    { type: 'cancel', compensate: false },
    'cannot be cancelled without its undo: it is being undone.',
    'A cancellation stops no undo. A pause does; a single step can be marked as undone.',
  ],
  ['begun', { type: 'undoRun' }, 'cannot be undone: it is running.', 'Cancel it.'],
  [
    'completed',
    { type: 'undoRun' },
    'cannot be undone: it has completed.',
    'Its pivot has completed, so it keeps its effects.',
  ],
  ['begun', on('retryStep', 'reserve'), 'cannot be retried: it is running.', 'Wait for it to end.'],
  [
    'begun',
    on('retryStep', 'charge'),
    'cannot be retried: it waits for the steps it depends on.',
    'The explanation of the run tells which.',
  ],
  [
    'past its pivot',
    on('retryStep', 'paid'),
    'cannot be retried: it waits for a time or a signal.',
    'Send the signal, or skip the step.',
  ],
  ['past its pivot', on('retryStep', 'charge'), 'cannot be retried: it is completed.'],
  [
    'begun',
    on('skipStep', 'reserve'),
    'cannot be skipped: it is running, and what it does cannot be taken back.',
    'Skip it while it waits for its next try; a pause of the run keeps the next try from beginning.',
  ],
  [
    'begun',
    on('skipStep', 'charge'),
    'cannot be skipped: it waits for the steps it depends on.',
    'Skip those first, or skip this step when its turn comes.',
  ],
  [
    'failed',
    on('skipStep', 'charge'),
    'cannot be skipped: it is cancelled, and what failed is another step.',
    'That is "reserve".',
  ],
  [
    'begun',
    gaveUp('reserve'),
    'cannot be given up: its run goes forward.',
    'Cancel the run first: that signals its handlers; this is for a handler that ignores its signal.',
  ],
  ['begun', gaveUp('charge'), 'cannot be given up: it is pending, and no handler of it runs.'],
  [
    'undoing',
    on('retryUndo', 'reserve'),
    'cannot be retried in its undo: its undo is running.',
    'Wait for it to end, or give up the step if its handler hangs.',
  ],
  [
    'parked',
    on('skipUndo', 'charge'),
    'cannot be skipped in its undo: it is failed.',
    'These have failed for good: "reserve".',
  ],
  [
    'begun',
    on('skipUndo', 'reserve'),
    'cannot be skipped in its undo: it is running.',
    'No undo of this run has failed for good.',
  ],
]

it.each(REFUSALS.map(([state, asked, what, remedy]) => ({ state, asked, what, remedy })))(
  'a run that is $state $what',
  ({ state, asked, what, remedy }) => {
    const driver = begun()
    STATES[state](driver)
    const before = structuredClone([...driver.rows.values()])

    const told = driver.fold(typeof asked === 'function' ? asked(driver) : asked)

    expect(told).toEqual({
      refused: {
        code: 'action_refused',
        what: expect.stringContaining(what),
        ...(remedy === undefined ? {} : { remedy }),
      },
    })
    expect([...driver.rows.values()]).toEqual(before)
  },
)
