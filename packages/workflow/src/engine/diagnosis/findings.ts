import { holdsLease } from '../../adapter/holds-lease.ts'
import type {
  Diagnosis,
  LiveRuns,
  OverdueSteps,
  StrandedStep,
  UnknownLeases,
  WorkerRecord,
} from '../../adapter/index.ts'
import { counted } from '../../words.ts'
import { type FindingDraft, named, type SomeRuns, type Thresholds } from './finding.ts'
import { failing, growing } from './recent-findings.ts'

/** How long after the end of its lease a worker becomes a finding: any live worker sweeps every few seconds. */
const SWEEP_GRACE_MS = 10_000
const CANCEL_AND_REPORT =
  'This should be impossible, unless rows were changed by hand: cancel the run to have it undone, and report it with the rows of the run.'

/** Turns a diagnosis into findings, the worst first. */
export function findingsOf(diagnosis: Diagnosis, thresholds: Thresholds): readonly FindingDraft[] {
  const { now, workers, liveRuns, overdueSteps, strandedSteps, unknownLeases } = diagnosis
  const live = workers.filter((worker) => holdsLease(worker, now))
  const pausedBefore = now - thresholds.pausedMs
  const served = overdueSteps.filter(({ definitionId }) =>
    live.some((worker) => mayRun(worker, definitionId)),
  )
  return [
    ...strandedSteps.map(stranded),
    ...unknownLeases.map(unknownTo),
    ...unserved(liveRuns, live, thresholds),
    ...liveRuns.filter(({ status }) => status === 'compensation_failed').map(parked),
    ...workers.filter((worker) => isOverlooked(worker, now)).map(deadWorker),
    ...overdueSteps.flatMap((due) => overdue(due, live)),
    ...growing(served, diagnosis),
    ...failing(diagnosis, thresholds),
    ...liveRuns.filter((runs) => runs.status === 'paused' && runs.oldestSince <= pausedBefore).map(paused),
    ...(diagnosis.moreLiveRuns ? [partlyChecked(liveRuns)] : []),
  ]
}

const FAULTS: Readonly<
  Record<
    StrandedStep['fault'],
    { readonly what: string; readonly remedy: string; readonly verb: 'cancel' | 'retryStep' }
  >
> = {
  unqueued: { what: 'can be claimed, but is in no queue', remedy: CANCEL_AND_REPORT, verb: 'cancel' },
  unheld: {
    what: 'is leased to a worker that is not registered',
    remedy: CANCEL_AND_REPORT,
    verb: 'cancel',
  },
  childless: {
    what: 'waits for a child that has ended or was deleted',
    remedy:
      'Retry the step: it then looks for its child again, and starts another if the first was deleted. If no run was deleted by hand, report it with the rows of both runs.',
    verb: 'retryStep',
  },
}

function stranded({ runId, workflow, version, name: step, fault }: StrandedStep): FindingDraft {
  const { what, remedy, verb } = FAULTS[fault]
  return {
    type: 'stranded_step',
    ...{ runId, workflow, version, step, fault },
    message: `Step "${step}" of run ${runId} (workflow "${workflow}" version ${version}) ${what}: nothing will ever run it.`,
    remedy,
    actions: [verb === 'cancel' ? { verb, run: runId } : { verb, step, run: runId }],
  }
}

function unknownTo(leases: UnknownLeases): FindingDraft {
  const { workerId, name, held, known } = leases
  return {
    type: 'unknown_leases',
    ...leases,
    message: `Worker "${name}" (${workerId}) has held ${counted(held, 'step')} for longer than two leases, but knows of only ${known}: nobody is working on the others.`,
    remedy:
      'Restart that worker: its steps then go to others when its lease ends. Look in its log for why it could not compare its leases with the store, and report it.',
  }
}

function unserved(
  liveRuns: readonly LiveRuns[],
  live: readonly WorkerRecord[],
  { dev, derivedFrom }: Thresholds,
): readonly FindingDraft[] {
  const byDefinition = new Map<number, LiveRuns[]>()
  for (const runs of liveRuns) {
    if (live.some((worker) => mayRun(worker, runs.definitionId))) continue
    byDefinition.set(runs.definitionId, [...(byDefinition.get(runs.definitionId) ?? []), runs])
  }
  return [...byDefinition.values()].map((groups) =>
    unservedVersion(groups, {
      dev,
      stated: derivedFrom?.get(groups[0]!.definitionId),
      isAlone: live.length === 0,
    }),
  )
}

function unservedVersion(
  groups: readonly LiveRuns[],
  about: {
    readonly dev: boolean | undefined
    /** The version that the code of a derived one states. */
    readonly stated: number | undefined
    /** No worker is live at all. */
    readonly isAlone: boolean
  },
): FindingDraft {
  const { dev, stated, isAlone } = about
  const runs = someRuns(groups)
  const { workflow, version } = runs
  const derived = stated === undefined ? '' : ` (a shape of version ${stated}, from development mode)`
  const what = `workflow "${workflow}" version ${version}${derived}`
  const some = counted(runs.runs, 'run')
  const who = isAlone
    ? `No worker is live: ${some} of ${what}`
    : `No live worker has handlers for ${what}: ${some}`
  const drop = `If its code is gone, drop the forgotten runs of "${workflow}", which ends them and undoes nothing. Else start`
  // Nothing is wrong with runs for which nobody was started: moving or cancelling them is no remedy.
  const others = isAlone ? '' : ', move the runs to another version, or cancel them'
  // What is being undone is undone by its own version, and cannot be cancelled any more.
  const goesForward = groups.some(({ status }) => status === 'running' || status === 'paused')
  return {
    type: 'version_without_worker',
    ...runs,
    message: `${who} cannot go on, the oldest since ${runs.oldest.toISOString()} (${named(runs.runIds)}).`,
    remedy: `${dev ? drop : 'Start'} a worker whose \`workflows\` include version ${version} of "${workflow}" with its handlers${others}. They wait until then.`,
    actions: [
      ...(goesForward && !isAlone ? ([{ verb: 'migrateRun' }, { verb: 'cancel' }] as const) : []),
      ...(dev ? ([{ verb: 'dropForgotten' }] as const) : []),
    ],
  }
}

/** A worker that does not report its definitions is assumed to have all. */
function mayRun({ definitionIds }: WorkerRecord, definitionId: number): boolean {
  return definitionIds === null || definitionIds.includes(definitionId)
}

function parked(group: LiveRuns): FindingDraft {
  const runs = someRuns([group])
  return {
    type: 'parked_runs',
    ...runs,
    message: `The undo of ${counted(runs.runs, 'run')} of workflow "${runs.workflow}" version ${runs.version} has failed for good (${named(runs.runIds)}).`,
    remedy:
      'Look at the error of the step that is compensation_failed; then retry its undo, or mark it as undone once that was done by hand.',
  }
}

function isOverlooked(worker: WorkerRecord, now: number): boolean {
  const silentSince = worker.leaseExpiresAt ?? worker.renewedAt
  return !holdsLease(worker, now) && (silentSince === null || silentSince + SWEEP_GRACE_MS <= now)
}

function deadWorker({ workerId, name, host, leaseExpiresAt }: WorkerRecord): FindingDraft {
  const since = leaseExpiresAt === null ? undefined : new Date(leaseExpiresAt)
  const where = host === null ? '' : ` on ${host}`
  const when = since === undefined ? 'it gave up its lease' : `its lease ran out at ${since.toISOString()}`
  return {
    type: 'dead_worker',
    ...{ workerId, name, host: host ?? undefined, since },
    message: `Worker "${name}" (${workerId})${where} is gone: ${when}, and its steps have not been given to other workers.`,
    remedy: 'Start a worker, of any workflow: each one looks after dead workers every few seconds.',
  }
}

function overdue(due: OverdueSteps, live: readonly WorkerRecord[]): readonly FindingDraft[] {
  const able = live.filter((worker) => mayRun(worker, due.definitionId))
  // Without such a worker, the whole version is a finding of its own.
  if (able.length === 0) return []
  const facts = {
    workflow: due.workflow,
    version: due.version,
    steps: due.steps,
    oldest: new Date(due.oldestDueAt),
  }
  const waiting = `${counted(due.steps, 'step')} of workflow "${due.workflow}" version ${due.version} ${due.steps === 1 ? 'has' : 'have'} been due since ${facts.oldest.toISOString()}`
  const slots = sum(able.map((worker) => worker.slots ?? 0))
  const freeSlots = sum(able.map((worker) => Math.max(0, (worker.slots ?? 0) - (worker.busy ?? 0))))
  if (freeSlots === 0) {
    return [
      {
        type: 'no_free_slots',
        ...facts,
        slots,
        message: `${waiting}, but no slot is free: ${counted(able.length, 'worker')} with ${counted(slots, 'slot')} can run it.`,
        remedy: 'Start more workers, or raise `concurrency` if they have processor and memory to spare.',
      },
    ]
  }
  return [
    {
      type: 'overdue_steps',
      ...facts,
      freeSlots,
      message: `${waiting}, although ${counted(able.length, 'worker')} with ${counted(freeSlots, 'free slot')} can run it.`,
      remedy:
        'Look at the logs of those workers: claiming fails, or their event loop is blocked by a handler. Restart them if they do not recover.',
    },
  ]
}

function paused(group: LiveRuns): FindingDraft {
  const runs = someRuns([group])
  return {
    type: 'paused_runs',
    ...runs,
    message: `${counted(runs.runs, 'run')} of workflow "${runs.workflow}" version ${runs.version} ${runs.runs === 1 ? 'is' : 'are'} paused, the longest since ${runs.oldest.toISOString()} (${named(runs.runIds)}).`,
    remedy: 'Resume or cancel them; paused runs never go on by themselves.',
    actions: [{ verb: 'resume' }, { verb: 'cancel' }],
  }
}

function partlyChecked(liveRuns: readonly LiveRuns[]): FindingDraft {
  const runs = sum(liveRuns.map((group) => group.runs))
  return {
    type: 'partly_checked',
    runs,
    message: `Only ${runs} live runs were checked, the oldest and the newest; there are more.`,
    remedy:
      'Deal with the other findings first, and ask again; a version that only runs between these have is not checked.',
  }
}

function someRuns(groups: readonly LiveRuns[]): SomeRuns {
  const { workflow, version } = groups[0]!
  return {
    workflow,
    version,
    runs: sum(groups.map(({ runs }) => runs)),
    oldest: new Date(Math.min(...groups.map(({ oldestSince }) => oldestSince))),
    runIds: groups.flatMap(({ runIds }) => runIds).sort(),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
