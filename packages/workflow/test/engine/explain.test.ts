import { describe, expect, it } from 'vitest'
import type { RunRecord, StepRecord, StoredRun, WorkerRecord } from '../../src/adapter/index.ts'
import { explainRun } from '../../src/engine/diagnosis/explain/explain.ts'
import { quoteInFull } from '../../src/engine/diagnosis/quote.ts'
import { FAILED, runToChange } from './control/run-to-change.ts'

const NOW = 10_000
const UNDO = { attempts: 1, failures: 0, losses: 0, startedAt: 1, finishedAt: null, skipped: false }

const WORKER: WorkerRecord = {
  workerId: 'w1',
  name: 'worker',
  status: 'live',
  startedAt: 0,
  renewedAt: 9_000,
  leaseExpiresAt: 39_000,
  slots: 4,
  busy: 1,
  host: 'h',
  definitionIds: [1],
  workflows: [{ name: 'order', version: 1 }],
}

function explain(
  { status, ...run }: Partial<Omit<StoredRun, 'status'> & Pick<RunRecord, 'status'>>,
  facts: Parameters<typeof runToChange>[1],
  workers: readonly WorkerRecord[] = [WORKER],
) {
  const found = runToChange(run, facts, NOW)
  const record: RunRecord = { ...found.run, status: status ?? found.run.status, input: null }
  const steps: StepRecord[] = found.steps.map((step) => ({
    ...step,
    undo: step.undo && { ...step.undo, error: null },
    output: null,
    error: null,
  }))
  return explainRun({ run: record, steps, shape: found.shape, workers, quote: quoteInFull, now: NOW })
}

function first(...args: Parameters<typeof explain>) {
  const { reason, sentence } = explain(...args).steps[0]!
  return `${reason}: ${sentence}`
}

describe('why a step does not begin', () => {
  const ready = { a: 'ready' } as const

  it.each([
    ['a look of a worker', [WORKER], /^due: "a" is due: a worker takes it at its next look\.$/],
    ['a worker', [], /^worker: "a" is due, but no worker is live: start one\.$/],
    ['a worker that is not dead', [{ ...WORKER, status: 'dead' }], /^worker: .*no worker is live/],
    [
      'a worker whose lease has not run out',
      [{ ...WORKER, leaseExpiresAt: 9_999 }],
      /^worker: .*no worker is live/,
    ],
    [
      'a worker for its version',
      [{ ...WORKER, definitionIds: [2, 3] }],
      /^worker: .*the only live worker has no handlers for "w" version 1/,
    ],
    [
      'a slot',
      [
        { ...WORKER, busy: 4 },
        { ...WORKER, definitionIds: [2] },
      ],
      /^slot: .*no slot is free on the workers that run "w" version 1, which have 4/,
    ],
    ['a worker that told nothing', [{ ...WORKER, slots: null, busy: null, definitionIds: null }], /^due: /],
  ] as const)('it waits for %s', (_, workers, sentence) => {
    expect(first({}, ready, workers)).toMatch(sentence)
  })

  it.each([
    ['the start', { startAt: 20_000 }, { a: 'ready' }, /^start: "a" begins when the run starts, at 1970/],
    [
      'its next try',
      {},
      { a: { status: 'ready', availableAt: 20_000, failures: 2 } },
      /^retry: "a" failed 2 times/,
    ],
    ['the resumption', { status: 'paused' }, { a: 'ready' }, /^paused: /],
    [
      'a time',
      {},
      { a: { status: 'waiting', availableAt: 20_000, waitingSince: 1 } },
      /^timer: "a" waits until 1970/,
    ],
    [
      'a signal',
      {},
      { a: { status: 'waiting', waitingSince: 1 } },
      /^signal: "a" waits for its signal, without a time limit/,
    ],
    ['a look after its signal', {}, { a: { status: 'waiting', waitingSince: 1, signalledAt: 2 } }, /^due: /],
    [
      'the end of its undo',
      { ...FAILED, status: 'compensating' },
      { a: 'ready' },
      /the run was stopped, and the step is cancelled/,
    ],
  ] as const)('it waits for %s', (_, run, steps, sentence) => {
    expect(first(run, steps)).toMatch(sentence)
  })

  it('names a few of the many steps it depends on', () => {
    const names = Array.from({ length: 9 }, (_, n) => `s${n}`)
    const roots = Object.fromEntries(names.map((name) => [name, 'running' as const]))
    const join = { dependsOn: names.map((_, n) => n), openDependencies: 9 }

    expect(explain({}, { ...roots, join }).steps.at(-1)).toMatchObject({
      reason: 'dependency',
      sentence: expect.stringMatching(/^"join" waits for "s0" \(running\), .*"s4" \(running\) and 4 more\.$/),
    })
  })
})

describe('why a step does not end', () => {
  it('its handler runs, or its worker stopped renewing its lease', () => {
    const running = { a: { status: 'running', workerId: 'w1', startedAt: 5_000 } } as const

    expect(first({}, running)).toMatch(/^running: "a" has been running on worker w1 since 1970/)
    const gone = '^worker: "a" was started by worker w1, which has stopped renewing its lease'
    const other = { ...WORKER, workerId: 'w2' }
    expect(first({}, running, [])).toMatch(new RegExp(`${gone}\\. No worker is live: start one\\.$`))
    expect(first({}, running, [other])).toMatch(
      new RegExp(`${gone}; the next sweep gives the step to another worker\\.$`),
    )
    expect(first({}, running, [{ ...other, definitionIds: [2] }])).toMatch(
      new RegExp(`${gone}\\. The only live worker has no handlers for "w" version 1: start one that has\\.$`),
    )
  })
})

describe('why an undo does not end', () => {
  const undoing = { ...FAILED, status: 'compensating', finishedAt: null } as const
  const undo = { status: 'compensating', undoOf: 'completed' } as const

  it.each([
    ['a look of a worker', { a: undo }, /^due: The undo of "a" is due/],
    [
      'its next try',
      { a: { ...undo, undo: { ...UNDO, failures: 1 }, availableAt: 20_000 } },
      /^retry: The undo of "a" failed once/,
    ],
    ['its handler', { a: { ...undo, workerId: 'w1' } }, /^running: The undo of "a" has been running/],
    [
      'a later step',
      { a: { ...undo, openDependencies: 1 }, b: { ...undo, dependsOn: [0] } },
      /^dependency: "a" is undone after "b" \(compensating\)/,
    ],
    [
      'an operator, over several edges',
      {
        a: { ...undo, openDependencies: 1 },
        b: { ...undo, openDependencies: 1, dependsOn: [0] },
        c: { status: 'compensation_failed', undoOf: 'completed', dependsOn: [1] },
      },
      /^operator: "a" is undone after "c", whose undo failed for good/,
    ],
    [
      'an operator, when its compensation needed the output that could not be stored',
      { a: { status: 'compensation_failed', undoOf: 'failed', succeeded: true } },
      /^operator: The undo of "a" failed for good: .* It is called without an output: what the step returned could not be stored\.$/,
    ],
  ] as const)('it waits for %s', (_, steps, sentence) => {
    expect(first(undoing, steps)).toMatch(sentence)
  })

  it('a stopped run waits for its steps in flight, or for a worker that has its definition', () => {
    const inFlight = explain(undoing, { a: { status: 'running', workerId: 'w1' }, b: 'failed' })
    const drained = explain(undoing, { a: 'completed', b: 'failed' }, [])

    expect(inFlight.sentence).toMatch(/was stopped, and is undone once 1 running step has ended/)
    expect(drained.sentence).toMatch(/is to be undone\. No worker is live: start one\.$/)
  })
})

describe('a run', () => {
  it.each([
    ['scheduled', { status: 'scheduled', startAt: 20_000 }, /is to start at 1970/],
    ['running', {}, /is going forward: of its 1 open step, 0 are running/],
    ['waiting', { status: 'waiting' }, /nothing can be done now in its 1 open step\./],
    ['paused', { status: 'paused' }, /was paused by an operator/],
    [
      'parked',
      { ...FAILED, status: 'compensation_failed' },
      /is parked: 0 undos failed for good, and 0 steps are undone/,
    ],
    ['completed', { status: 'completed' }, /has completed\.$/],
    ['failed', FAILED, /has ended as failed\.$/],
  ] as const)('that is %s says so', (_, run, sentence) => {
    expect(explain(run, { a: 'ready' }).sentence).toMatch(sentence)
  })
})

describe('explaining a run with end steps that ended a moment ago', () => {
  const sentenceWith = (workers: readonly WorkerRecord[]) => {
    const { run, steps, shape } = runToChange({ status: 'completed', finishedAt: 5_000 }, {}, NOW)
    const rows = steps.map((step) => ({ ...step, undo: null, output: null, error: null }))
    const record: RunRecord = { ...run, status: 'completed', input: null }
    return explainRun({
      run: record,
      steps: rows,
      shape: { ...shape, endSteps: true },
      workers,
      quote: quoteInFull,
      now: NOW,
    }).sentence
  }

  it('says that they are about to begin, or that no worker can begin them', () => {
    expect(sentenceWith([WORKER])).toMatch(/ has completed\. Its end steps are about to begin\.$/)
    expect(sentenceWith([])).toMatch(/ Its end steps are to begin\. No worker is live: start one\.$/)
  })
})
