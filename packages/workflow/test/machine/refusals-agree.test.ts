import { expect, it } from 'vitest'
import { define } from '../../src/definition/index.ts'
import type { MachineEvent } from '../../src/machine/index.ts'
import { specOfShape } from '../../src/machine/spec-of-shape.ts'
import { Driver } from './driver.ts'
import { answerOfToday } from './engine-today.ts'

const run = () => 1
const compensate = () => {}

/** The run goes on past the failure of `notify`; after `charge` it goes forward only. */
const { shape } = define('order', { version: 1 })
  .step('notify', { run, onFailure: 'continue' })
  .step('reserve', { dependsOn: ['notify'], run, compensate })
  .step('charge', { dependsOn: ['reserve'], run, pivot: true })
  .waitForSignal('paid', { dependsOn: ['charge'] })
  .step('ship', { dependsOn: ['charge'], run }).record

const forward = (driver: Driver): void => {
  driver.fails('notify')
  driver.done('reserve')
}
const pivoted = (driver: Driver): void => {
  forward(driver)
  driver.done('charge')
  driver.done('paid')
}
const undoing = (driver: Driver): void => {
  forward(driver)
  driver.fails('charge')
}

const STATES: Readonly<Record<string, (driver: Driver) => unknown>> = {
  begun: () => {},
  'between two tries': (driver) => driver.fails('notify', { retryAt: 9_000 }),
  'past a failure': forward,
  paused: (driver) => driver.fold({ type: 'pause' }),
  'paused and stopped': (driver) => {
    forward(driver)
    driver.fold({ type: 'pause' })
    driver.fails('charge')
  },
  'being stopped': (driver) => {
    forward(driver)
    driver.fold({ type: 'cancel' })
  },
  'past its pivot': pivoted,
  'parked after its pivot': (driver) => {
    pivoted(driver)
    driver.fails('ship')
  },
  'being undone': undoing,
  'paused in its undo': (driver) => {
    undoing(driver)
    driver.fold({ type: 'pause' })
  },
  'parked in its undo': (driver) => {
    undoing(driver)
    driver.fails('reserve')
  },
  compensated: (driver) => {
    undoing(driver)
    driver.done('reserve')
  },
  failed: (driver) => {
    driver.fails('notify')
    driver.fails('reserve')
  },
  'being abandoned': (driver) => {
    forward(driver)
    driver.fold({ type: 'cancel', compensate: false })
  },
  abandoned: (driver) => {
    forward(driver)
    driver.fails('charge', { retryAt: 9_000 })
    driver.fold({ type: 'cancel', compensate: false })
  },
  completed: (driver) => {
    pivoted(driver)
    driver.done('ship')
    driver.tell(['paid'], {})
  },
}

const ON_RUN: readonly MachineEvent[] = [
  { type: 'pause' },
  { type: 'resume' },
  { type: 'cancel' },
  { type: 'cancel', compensate: false },
  { type: 'retry' },
  { type: 'undoRun' },
  { type: 'setPriority', priority: 1 },
]
const ON_STEP = ['retryStep', 'skipStep', 'giveUp', 'retryUndo', 'skipUndo'] as const

const wordsOf = (told: ReturnType<Driver['fold']>): string => {
  if (told === undefined || 'result' in told) return 'nothing'
  if ('changed' in told) return told.changed ? 'changed' : 'unchanged'
  const { what, remedy } = told.refused
  return remedy === undefined ? what : `${what} ${remedy}`
}

/** What is meant to differ: the machine names what failed by the cause of the run's end, and not all that runs again was undone. */
const agreed = (words: string): string =>
  words
    .replace('were undone and must run again before it', 'must run again before it')
    .replace(/That is ".+"/, 'That is another')

it.each(Object.keys(STATES))(
  'a run that is %s is refused what it is refused today, in the same words',
  (state) => {
    const prepared = () => {
      const driver = new Driver(specOfShape(shape))
      STATES[state]!(driver)
      return driver
    }
    const steps = shape.steps.map(({ name }) => prepared().at(name).no)
    const onSteps = ON_STEP.flatMap((type) =>
      steps.map(
        (unit): MachineEvent => (type === 'giveUp' ? { type, unit, reason: 'it burned' } : { type, unit }),
      ),
    )
    const answers = [...ON_RUN, ...onSteps].map((event) => {
      const driver = prepared()
      const asked = `${event.type} ${'unit' in event ? driver.nameOf(event.unit) : ''}`
      const today = agreed(answerOfToday(driver, shape, event))
      return { asked, today, machine: agreed(wordsOf(driver.fold(event))) }
    })

    expect(answers.map(({ asked, machine }) => `${asked}: ${machine}`)).toEqual(
      answers.map(({ asked, today }) => `${asked}: ${today}`),
    )
  },
)
