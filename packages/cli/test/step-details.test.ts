import type { RunSnapshot, StepSnapshot, WorkflowStep } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { laneLines } from '../src/lanes/lines.ts'
import { isOver, stepLines } from '../src/runs/step-details.ts'
import { Output } from '../src/terminal/output.ts'

const READ_AT = new Date('2026-11-25T18:30:41.000Z')
const at = (secondsBefore: number) => new Date(READ_AT.getTime() - secondsBefore * 1_000)

/** The graph of the transcripts. */
const EDGES: Readonly<Record<string, readonly string[]>> = {
  checkFraud: [],
  approveOrder: ['checkFraud'],
  reserveStock: [],
  chargeCard: ['approveOrder', 'reserveStock'],
  packItem: ['chargeCard'],
  route: [],
  bookCourier: ['packItem', 'route'],
  printLabel: ['packItem', 'route'],
  shipped: ['bookCourier', 'printLabel'],
}
const graph = Object.entries(EDGES).map(
  ([name, dependsOn]) => ({ name, dependsOn }) as unknown as WorkflowStep,
)

/** A run whose steps have these states; what is not given is as before a step begins. */
function runWith(
  status: RunSnapshot['status'],
  steps: Readonly<Record<string, Partial<StepSnapshot>>>,
): RunSnapshot {
  const rows = Object.keys(EDGES).map((name) => {
    const given = { kind: 'work', status: 'pending', attempts: 0, ...steps[name] }
    return { name, ...given } as StepSnapshot
  })
  return { status, readAt: READ_AT, finishedAt: undefined, steps: rows, maps: {} } as unknown as RunSnapshot
}

function lines(run: RunSnapshot, columns = 80): string {
  const stdout = { isTTY: true, columns, write: () => true }
  const shown = { json: false, plain: false, ascii: false, color: false, utc: true, fields: undefined }
  const out = new Output({ stdout, stderr: stdout, env: {}, ...shown })
  return laneLines(out, stepLines(run, graph, out)).join('\n')
}

const took = (seconds: number) => ({ startedAt: at(seconds + 5), finishedAt: at(5) })
const error = { name: 'Error', message: 'no courier before 2026-12-01' }
const undo = (given: Partial<NonNullable<StepSnapshot['undo']>>) =>
  ({ attempts: 1, failures: 0, losses: 0, skipped: false, ...given }) as NonNullable<StepSnapshot['undo']>

describe('the lines of steps', () => {
  it('count down to a retry, by the time at which the run was read', () => {
    const run = runWith('running', {
      checkFraud: { status: 'completed', attempts: 1, ...took(0.8) },
      approveOrder: { status: 'skipped', skip: { because: 'when' } },
      reserveStock: { status: 'completed', attempts: 1, ...took(0.4) },
      chargeCard: { status: 'completed', attempts: 2, ...took(2.1) },
      packItem: { status: 'running', attempts: 1, startedAt: at(4) },
      route: { status: 'completed', attempts: 1, ...took(0) },
      bookCourier: { status: 'ready', attempts: 2, dueAt: at(-2), error },
      printLabel: { status: 'skipped', skip: { because: 'case', choice: 'route', case: 'express' } },
    })

    expect(lines(run)).toBe(
      [
        '  ●      checkFraud    completed  800 ms',
        '  »      approveOrder  skipped    its when() was false',
        '  │ ●    reserveStock  completed  400 ms',
        '  ●─┘    chargeCard    completed  2.1 s, attempt 2',
        '  ►      packItem      running    attempt 1, 4 s',
        '  │ ●    route         completed  0 ms',
        '  ├─┼─○  bookCourier   ready      attempt 3 in 2 s; no courier before 2026-12-01',
        '  »─┘ │  printLabel    skipped    "route" chose "express"',
        '  ·───┘  shipped       pending',
      ].join('\n'),
    )
  })

  it('tell an undo: whose turn it is, after whom, and what has nothing to undo', () => {
    const run = runWith('compensating', {
      checkFraud: { status: 'completed' },
      approveOrder: { status: 'skipped', skip: { because: 'when' } },
      reserveStock: { status: 'compensating', undo: undo({ attempts: 0 }) },
      chargeCard: { status: 'compensating', undo: undo({ startedAt: at(0.6) }) },
      packItem: { status: 'compensated', undo: undo({ ...took(0.3) }) },
      route: { status: 'completed' },
      bookCourier: { status: 'failed', attempts: 3, error },
      printLabel: { status: 'skipped' },
      shipped: { status: 'cancelled' },
    })

    expect(lines(run)).toBe(
      [
        '  ●      checkFraud    completed     nothing to undo',
        '  »      approveOrder  skipped',
        '  │ ‹    reserveStock  compensating  after chargeCard',
        '  ◄─┘    chargeCard    compensating  attempt 1, 600 ms',
        '  □      packItem      compensated   300 ms',
        '  │ ●    route         completed     nothing to undo',
        '  ├─┼─×  bookCourier   failed        attempt 3; no courier before 2026-12-01',
        '  »─┘ │  printLabel    skipped',
        '  /───┘  shipped       cancelled',
      ].join('\n'),
    )
    expect(
      Math.max(
        ...lines(run, 60)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThanOrEqual(60)
  })

  it('name the nearest step that is undone before, past steps that have nothing to undo', () => {
    const run = runWith('compensation_failed', {
      checkFraud: { status: 'compensating', undo: undo({ attempts: 0 }) },
      approveOrder: { status: 'skipped' },
      reserveStock: { status: 'compensating', undo: undo({ attempts: 0 }) },
      chargeCard: { status: 'compensation_failed', undo: undo({ error }) },
    })

    const found = stepLines(run, graph, { utc: true })

    expect(found[0]).toMatchObject({ mark: 'not yet its turn', detail: 'after chargeCard' })
    expect(found[3]).toMatchObject({ mark: 'compensation_failed' })
    expect(isOver(run, found)).toBe(true)
  })

  it('count down to the next try of an undo, which is not the end of a parked run', () => {
    const run = runWith('compensation_failed', {
      chargeCard: { status: 'compensation_failed', undo: undo({ error }) },
      route: { status: 'compensating', undo: undo({ dueAt: at(-3), failures: 1, error }) },
    })

    const found = stepLines(run, graph, { utc: true })

    expect(found[5]!.detail).toBe('attempt 2 in 3 s; no courier before 2026-12-01')
    expect(isOver(run, found)).toBe(false)
  })

  it('take what a terminal would obey out of names, errors and cases', () => {
    const run = runWith('running', {
      bookCourier: { status: 'failed', attempts: 1, error: { name: 'Error', message: 'a\u001b[31m\nb' } },
      printLabel: { status: 'skipped', skip: { because: 'case', choice: 'r\u0007', case: 'x' } },
    })

    expect(lines(run)).toContain('attempt 1; a\ufffd[31m b')
    expect(lines(run)).toContain('"r\ufffd" chose "x"')
  })
})
