import { describe, expect, it } from 'vitest'
import type { Diagnosis, LiveRuns, WorkerRecord } from '../../src/adapter/index.ts'
import { findingsOf } from '../../src/engine/diagnosis/findings.ts'

const NOW = Date.UTC(2025, 0, 2)
const HOUR_MS = 3_600_000
const THRESHOLDS = { pausedMs: HOUR_MS, failureRate: 0.1 }

function worker(change: Partial<WorkerRecord> = {}): WorkerRecord {
  return {
    workerId: '0192ffff-0000-7000-8000-000000000001',
    name: 'packer',
    status: 'live',
    startedAt: NOW - HOUR_MS,
    renewedAt: NOW - 1_000,
    leaseExpiresAt: NOW + 29_000,
    slots: 10,
    busy: 0,
    host: 'machine-7',
    definitionIds: [1],
    workflows: [{ name: 'order', version: 1 }],
    ...change,
  }
}

function runs(change: Partial<LiveRuns> = {}): LiveRuns {
  return {
    definitionId: 1,
    workflow: 'order',
    version: 1,
    status: 'running',
    runs: 2,
    oldestSince: NOW - 2 * HOUR_MS,
    runIds: ['r1', 'r2'],
    ...change,
  }
}

const OVERDUE = { definitionId: 1, workflow: 'order', version: 1, steps: 3, oldestDueAt: NOW - HOUR_MS }

const NOTHING: Diagnosis = {
  now: NOW,
  store: {},
  workers: [],
  liveRuns: [],
  moreLiveRuns: false,
  overdueSteps: [],
  strandedSteps: [],
  unknownLeases: [],
  recentRuns: [],
}

function findings(change: Partial<Diagnosis>) {
  return findingsOf({ ...NOTHING, ...change }, THRESHOLDS)
}

describe('the findings of a diagnosis', () => {
  it('name a worker that holds steps it does not know', () => {
    const unknown = { workerId: worker().workerId, name: 'packer', held: 21, known: 1 }

    expect(findings({ workers: [worker()], unknownLeases: [unknown] })).toMatchObject([
      {
        type: 'unknown_leases',
        ...unknown,
        message: expect.stringMatching(
          /has held 21 steps for longer than two leases, but knows of only 1: nobody is working/,
        ),
        remedy: expect.stringMatching(/^Restart that worker/),
      },
    ])
  })

  it('are empty when every live run has a worker', () => {
    expect(findings({ workers: [worker()], liveRuns: [runs()] })).toEqual([])
  })

  it('say which version has no worker, how many runs wait, and what to do', () => {
    const waiting = [
      runs(),
      runs({ status: 'compensating', runs: 1, oldestSince: NOW - HOUR_MS, runIds: ['r3'] }),
    ]

    const [finding, ...more] = findings({ workers: [worker({ definitionIds: [2] })], liveRuns: waiting })

    expect(more).toEqual([])
    expect(finding).toMatchObject({
      type: 'version_without_worker',
      workflow: 'order',
      version: 1,
      runs: 3,
      oldest: new Date(NOW - 2 * HOUR_MS),
      runIds: ['r1', 'r2', 'r3'],
      message:
        'No live worker has handlers for workflow "order" version 1: 3 runs cannot go on, the oldest since 2025-01-01T22:00:00.000Z (r1, r2, r3).',
      remedy: expect.stringMatching(/^Start a worker whose `workflows` include version 1 of "order"/),
    })
  })

  it('say of a version from development mode which version its code states, and how to drop its runs', () => {
    const diagnosis = { workers: [], liveRuns: [runs({ definitionId: 9, version: 1_234_567_890 })] }
    const thresholds = { ...THRESHOLDS, dev: true, derivedFrom: new Map([[9, 3]]) }

    const [finding] = findingsOf({ ...NOTHING, ...diagnosis }, thresholds)

    expect(finding?.message).toContain(
      'version 1234567890 (a shape of version 3, from development mode) cannot go on',
    )
    expect(finding?.remedy).toMatch(
      /^If its code is gone, drop the forgotten runs of "order", which ends them and undoes nothing\. Else start a worker/,
    )
  })

  it('do not count a worker whose lease has expired, but count one that does not report its definitions', () => {
    const expired = worker({ leaseExpiresAt: NOW - 1 })
    const silent = worker({ definitionIds: null })

    expect(findings({ workers: [expired], liveRuns: [runs()] })).toMatchObject([
      { type: 'version_without_worker' },
    ])
    expect(findings({ workers: [silent], liveRuns: [runs()] })).toEqual([])
  })

  it('report parked runs', () => {
    const parked = runs({ status: 'compensation_failed', runs: 1, runIds: ['r1'] })

    expect(findings({ workers: [worker()], liveRuns: [parked] })).toMatchObject([
      { type: 'parked_runs', runs: 1, message: expect.stringMatching(/The undo of 1 run .* \(r1\)/) },
    ])
  })

  it('report runs that have been paused for long', () => {
    const paused = (ms: number) => runs({ status: 'paused', oldestSince: NOW - ms })

    expect(findings({ workers: [worker()], liveRuns: [paused(HOUR_MS)] })).toMatchObject([
      { type: 'paused_runs', message: expect.stringMatching(/^2 runs .* are paused, the longest since/) },
    ])
    expect(findings({ workers: [worker()], liveRuns: [paused(HOUR_MS - 1)] })).toEqual([])
  })

  it('report a dead worker once a sweep should have found it', () => {
    const silent = (ms: number, status: 'live' | 'dead' = 'live') =>
      findings({ workers: [worker({ status, leaseExpiresAt: NOW - ms })] })

    expect(silent(9_999)).toEqual([])
    expect(silent(9_999, 'dead')).toEqual([])
    expect(silent(10_000)).toMatchObject([
      {
        type: 'dead_worker',
        name: 'packer',
        since: new Date(NOW - 10_000),
        message: expect.stringMatching(
          /^Worker "packer" \(.*\) on machine-7 is gone: its lease ran out at 2025/,
        ),
      },
    ])
    expect(silent(10_000, 'dead')).toHaveLength(1)
    const left = worker({ leaseExpiresAt: null, renewedAt: NOW - HOUR_MS, host: null })
    expect(findings({ workers: [left] })).toMatchObject([
      { since: undefined, message: expect.stringMatching(/\) is gone: it gave up its lease,/) },
    ])
  })

  it('distinguish overdue steps with free slots from a lack of slots', () => {
    const full = worker({ busy: 10 })

    expect(findings({ workers: [full, worker({ busy: 8 })], overdueSteps: [OVERDUE] })).toMatchObject([
      {
        type: 'overdue_steps',
        steps: 3,
        freeSlots: 2,
        message: expect.stringMatching(/^3 steps .* although 2 workers with 2 free slots can run it\.$/),
      },
    ])
    expect(findings({ workers: [full], overdueSteps: [OVERDUE] })).toMatchObject([
      {
        type: 'no_free_slots',
        slots: 10,
        message: expect.stringMatching(/but no slot is free: 1 worker with 10 slots can run it\.$/),
      },
    ])
  })

  it('report overdue steps of a version without a worker only as that version', () => {
    expect(findings({ overdueSteps: [OVERDUE], liveRuns: [runs()] }).map(({ type }) => type)).toEqual([
      'version_without_worker',
    ])
  })

  it('put impossible states first, and say when not every run was checked', () => {
    const stranded = { runId: 'r1', workflow: 'order', version: 1, name: 'pack' }

    const found = findings({
      liveRuns: [runs()],
      moreLiveRuns: true,
      strandedSteps: [
        { ...stranded, fault: 'unqueued' },
        { ...stranded, fault: 'unheld' },
        { ...stranded, fault: 'childless' },
      ],
    })

    expect(found.map(({ type }) => type)).toEqual([
      'stranded_step',
      'stranded_step',
      'stranded_step',
      'version_without_worker',
      'partly_checked',
    ])
    expect(found[0]?.message).toMatch(/Step "pack" of run r1 .* can be claimed, but is in no queue/)
    expect(found[1]?.message).toMatch(/is leased to a worker that is not registered/)
    expect(found[2]).toMatchObject({
      message: expect.stringMatching(/waits for a child that has ended or was deleted: nothing will/),
      remedy: expect.stringContaining('Retry the step: it then looks for its child'),
    })
  })

  const RECENT = {
    ...{ definitionId: 1, workflow: 'order', version: 1, started: 20, ended: 20, failed: 0 },
    ...{ failedStep: null, failedRunIds: [], startedSince: NOW - HOUR_MS, endedSince: NOW - HOUR_MS },
  }

  it('name a version of which many runs failed, and the step that most of them failed at', () => {
    const failing = { ...RECENT, failed: 4, failedStep: 'charge', failedRunIds: ['r1', 'r2', 'r3', 'r4'] }

    expect(findings({ recentRuns: [failing] })).toEqual([
      {
        type: 'failing_runs',
        ...{ workflow: 'order', version: 1, ended: 20, failed: 4, step: 'charge' },
        since: new Date(NOW - HOUR_MS),
        runIds: ['r1', 'r2', 'r3', 'r4'],
        message:
          '4 of 20 runs of workflow "order" version 1 that ended since 2025-01-01T23:00:00.000Z failed, most of them at step "charge" (r1, r2, r3, …).',
        remedy: expect.stringContaining('the explanation of one of these runs'),
      },
    ])
    expect(findings({ recentRuns: [{ ...failing, failed: 2 }] })).toEqual([])
    expect(findings({ recentRuns: [{ ...failing, failed: 4, ended: 41 }] })).toEqual([])
  })

  it('name a queue that grows: its steps are overdue, and more runs start than end', () => {
    const growing = { ...RECENT, started: 1_200, ended: 700 }
    const overdue = { workers: [worker({ busy: 10 })], overdueSteps: [OVERDUE] }

    expect(findings({ ...overdue, recentRuns: [growing] })).toMatchObject([
      { type: 'no_free_slots' },
      {
        type: 'growing_queue',
        message:
          'The queue of workflow "order" version 1 grows: 20 runs a minute are started and 12 end, and 3 steps are overdue.',
      },
    ])
    expect(findings({ recentRuns: [growing] })).toEqual([])
    expect(findings({ ...overdue, recentRuns: [RECENT] })).toMatchObject([{ type: 'no_free_slots' }])
  })
})
