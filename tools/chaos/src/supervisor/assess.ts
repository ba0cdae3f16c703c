import { COUNTED, type Counted, featuresMet, WRONG_HEARTBEAT } from '../load/features.ts'
import { rulesOf } from '../load/rules.ts'
import type { ChaosOptions } from '../options.ts'
import type { Span } from '../oracle/facts.ts'
import { judge } from '../oracle/judge.ts'
import { summarised, type Violation } from '../oracle/violation.ts'
import type { Report } from '../report/report.ts'
import type { Timeline } from '../report/timeline.ts'
import { collectFacts } from './collect.ts'
import { LEAVE_MS } from './fleet.ts'
import type { Heard } from './heard.ts'
import type { Recoveries } from './recoveries.ts'
import type { Stage } from './stage.ts'

/** What is recorded during a run of the harness. */
export interface Course {
  readonly options: ChaosOptions
  readonly progress: (line: string) => void
  readonly leaseMs: number
  readonly tickMs: number
  readonly timeline: Timeline
  readonly heard: Heard
  readonly recoveries: Recoveries
  /** Violations that the faults themselves saw. */
  readonly complaints: Violation[]
}

export interface Outcome {
  readonly watched: () => readonly Violation[]
  readonly faults: Readonly<Record<string, number>>
  /** The times of faults that can cause the loss of a worker. */
  readonly troubles: readonly Span[]
  readonly restless: readonly Violation[]
  readonly restMs: number
}

/** Judges the final state once everything is, or should be, at rest. Workers leave before the rows are read. */
export async function assess(stage: Stage, course: Course, outcome: Outcome): Promise<Report> {
  const { options, timeline, heard, recoveries, leaseMs, tickMs } = course
  const { fleet } = stage
  const sick = await findings(stage)
  // Before the processes leave, because it needs their names.
  const watched = outcome.watched()
  const late = await fleet.leave()
  const facts = await collectFacts(stage, outcome.troubles)
  const { violations, exceptions } = judge(facts, rulesOf(stage.workflows))
  const { rows: counted } = await stage.world.query<Counted>(COUNTED)
  const features = featuresMet(counted)
  const runs: Record<string, number> = {}
  for (const { status } of facts.runs) runs[status] = (runs[status] ?? 0) + 1
  return {
    ...{
      seed: options.seed,
      faultsMs: options.faultsMs,
      elapsedMs: timeline.elapsedMs,
      restMs: outcome.restMs,
    },
    ...{ leaseMs, tickMs, runs, features, exceptions, faults: outcome.faults },
    settled: fleet.settled,
    discarded: fleet.sum('discarded'),
    leasesLost: fleet.sum('leasesLost'),
    recoveries: recoveries.times,
    failedCalls: heard.failures,
    errors: heard.errors,
    violations: [
      ...[...outcome.restless, ...watched, ...violations, ...spoken(course), ...sick],
      ...missed(features),
      ...strange(counted),
      ...summarised('close_hangs', late.map(leftLate)),
    ],
    timeline: timeline.lines,
  }
}

function spoken({ heard, complaints }: Course): readonly Violation[] {
  return [
    ...summarised('process_died', heard.deaths),
    ...summarised('call_hangs', heard.hangs),
    ...complaints,
  ]
}

/** What did not happen was not tested. */
function missed(features: Readonly<Record<string, number>>): readonly Violation[] {
  const sentences = Object.entries(features)
    .filter(([, count]) => count === 0)
    .map(([name]) => `There were no ${name}: this run has shown nothing about them. Let it run for longer.`)
  return summarised('feature_not_met', sentences, 10)
}

function strange(counted: readonly Counted[]): readonly Violation[] {
  const sentences = counted
    .filter(({ what }) => what === WRONG_HEARTBEAT)
    .map(
      ({ count }) =>
        `${count} attempts got the details of a heartbeat that no earlier attempt of theirs had sent.`,
    )
  return summarised('wrong_heartbeat', sentences)
}

async function findings({ engine }: Stage): Promise<readonly Violation[]> {
  const { findings: all } = await engine.doctor({ overdueFor: '5s', pausedFor: '5s' })
  // Runs that fail are a part of the load.
  const found = all.filter(({ type }) => type !== 'failing_runs')
  const sentences = found.map(({ message }) => `doctor() at rest: ${message}`)
  return summarised('unhealthy', sentences)
}

function leftLate(name: string): string {
  return `${name} was told to leave at the end, but had not left after ${LEAVE_MS} ms.`
}
