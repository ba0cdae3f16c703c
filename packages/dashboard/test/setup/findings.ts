import type { HealthFinding, ListedRun } from '../../src/api.ts'

/** Findings of each way to help: a list, a command, buttons, and nothing but words. */
export function findingsOn(runs: readonly ListedRun[]): readonly HealthFinding[] {
  return [
    {
      type: 'parked_runs',
      sentence:
        'The undo of 41 runs of workflow “fulfil-order” version 3 has failed for good: “chargeCard” (RefundError: refund window closed). Repair the cause, then retry the compensation of all 41 runs; or mark it as undone where somebody refunded by hand.',
      runs: runs.slice(0, 8).map(({ id }) => id),
      keys: keysOf(runs.slice(0, 5)),
      actions: [],
      commands: [],
      query: 'workflow=fulfil-order&version=3&status=compensation_failed',
    },
    {
      type: 'version_without_worker',
      sentence:
        'No live worker has handlers for workflow “render-labels” version 4: 18 runs cannot go on, the oldest since 2026-11-24T16:06:08.000Z. Start a worker whose workflows include version 4 of “render-labels”, move the runs to another version, or cancel them.',
      runs: [runs[3]!.id],
      keys: keysOf([runs[3]!]),
      actions: [{ verb: 'cancel', run: runs[3]!.id, denied: true }],
      commands: ['belay move --workflow render-labels --version 4 --to <version> --dry-run'],
      query: 'workflow=render-labels&version=4',
    },
    {
      type: 'failing_runs',
      sentence:
        '212 of 1,020 runs of workflow “send-invoice” version 5 that ended since 2026-11-24T16:01:00.000Z failed, most of them at step “validate”. Read the errors of “validate”, repair the cause, then retry the failed runs.',
      runs: [runs[8]!.id, runs[9]!.id],
      keys: keysOf([runs[8]!, runs[9]!]),
      actions: [
        { verb: 'retry', run: runs[8]!.id, denied: false },
        { verb: 'retry', run: runs[9]!.id, denied: false },
      ],
      commands: [
        "belay retry --workflow send-invoice --version 5 --since 2026-11-24T16:01:00.000Z --reason '…'",
      ],
      query: 'workflow=send-invoice&version=5&status=failed',
    },
    {
      type: 'late_schedules',
      sentence:
        '1 schedule should have fired, the longest due since 16:45 (“sync-prices”). A worker with version 2 of “sync-prices” has to run.',
      runs: [],
      keys: {},
      actions: [],
      commands: [],
    },
  ]
}

function keysOf(runs: readonly ListedRun[]): Readonly<Record<string, string>> {
  return Object.fromEntries(runs.flatMap(({ id, key }) => (key === undefined ? [] : [[id, key]])))
}
