import type { Message } from '../child/protocol.ts'
import { FAULTS } from '../faults/all.ts'
import { EFFECT_STEPS, LEDGER_STEPS } from '../load/workflows.ts'
import type { ChaosOptions } from '../options.ts'
import { judge } from '../oracle/judge.ts'
import type { Violation } from '../oracle/violation.ts'
import { summarised } from '../oracle/violation.ts'
import { until } from '../pause.ts'
import { Random } from '../random.ts'
import type { Report } from '../report/report.ts'
import { Timeline } from '../report/timeline.ts'
import { OPENING_CENTS } from '../world/schema.ts'
import { collectFacts } from './collect.ts'
import { Fleet } from './fleet.ts'
import { Guard } from './guard.ts'
import { Recoveries } from './recoveries.ts'
import { comeToRest } from './rest.ts'
import type { Seat } from './seat.ts'
import type { Stage } from './stage.ts'
import { Storm } from './storm.ts'
import { openTheatre } from './theatre.ts'
import { Watch } from './watch.ts'

const LEASE_MS = 1_500
const TICK_MS = 100
const WARM_UP_MS = 30_000
const WARM_UP_STEPS = 30
const PROGRESS_MS = 5_000

/** What processes said in the course of it. */
class Heard {
  readonly errors: Record<string, number> = {}
  readonly deaths: string[] = []
  readonly hangs: string[] = []
  #triggers = new Map<string, Readonly<Record<string, number>>>()

  hear(seat: Seat, message: Message): void {
    if (message.type === 'error') {
      // Names of databases and ports differ between processes; the sentence counts.
      const text = message.message.replaceAll(/db_[0-9a-f]+|:[0-9]+/g, '…')
      const what = `${message.during}: ${text}`.slice(0, 160)
      this.errors[what] = (this.errors[what] ?? 0) + 1
    }
    if (message.type === 'hangs')
      this.hangs.push(`A call of ${seat.child?.name} has no end after ${message.forMs} ms: ${message.call}.`)
    if (message.type === 'started') this.#triggers.set(seat.child?.name ?? '', message.failures)
  }

  /** Over all processes that there were. */
  get failures(): Readonly<Record<string, number>> {
    const sum: Record<string, number> = {}
    for (const failures of this.#triggers.values())
      for (const [what, count] of Object.entries(failures)) sum[what] = (sum[what] ?? 0) + count
    return sum
  }
}

/** Lets everything go wrong for a while, and says what became of it. `progress` is told a line now and then. */
export async function chaos(options: ChaosOptions, progress: (line: string) => void): Promise<Report> {
  const random = new Random(options.seed)
  const timeline = new Timeline(options.timelineMax)
  const heard = new Heard()
  const guard = new Guard()
  const theatre = await openTheatre()
  const fleet = await Fleet.open(options.workers, {
    guard,
    serverPort: theatre.server.port,
    database: new URL(theatre.url).pathname.slice(1),
    worldUrl: theatre.worldUrl,
    leaseMs: LEASE_MS,
    tickMs: TICK_MS,
    startsPerSecond: options.startsPerSecond,
    nextSeed: () => random.seed(),
    onMessage: (seat, message) => heard.hear(seat, message),
    onDeath(sentence) {
      timeline.add(sentence)
      heard.deaths.push(sentence)
    },
  })
  const complaints: Violation[] = []
  const stage: Stage = {
    ...{ server: theatre.server, fleet, guard, random, database: theatre.database, world: theatre.world },
    ...{ engine: theatre.engine, workflows: theatre.workflows, leaseMs: LEASE_MS },
    afflictions: new Set(),
    archive: new Map(),
    complain(violation) {
      timeline.add(violation.sentence)
      complaints.push(violation)
    },
  }
  try {
    return await rehearse(stage, { options, timeline, heard, complaints, progress })
  } finally {
    await fleet.close()
    await theatre.close()
    guard.close()
  }
}

interface Rehearsal {
  readonly options: ChaosOptions
  readonly timeline: Timeline
  readonly heard: Heard
  readonly complaints: readonly Violation[]
  readonly progress: (line: string) => void
}

async function rehearse(stage: Stage, rehearsal: Rehearsal): Promise<Report> {
  const { options, timeline, progress } = rehearsal
  const { fleet } = stage
  const recoveries = new Recoveries()
  const watch = new Watch(stage, recoveries)
  const faults = FAULTS.filter((fault) => options.classes.includes(fault.class))
  const storm = new Storm(stage, { faults, timeline, recoveries })
  const telling = setInterval(() => {
    const struck = Object.entries(storm.counts).map(([name, count]) => `${count} ${name}`)
    const seconds = Math.round(timeline.elapsedMs / 1_000)
    progress(
      `${seconds} s: ${watch.ended} runs done, ${watch.open} open; ${struck.join(', ') || 'no fault yet'}`,
    )
  }, PROGRESS_MS)
  watch.start()
  try {
    if (!(await until(WARM_UP_MS, 100, () => fleet.settled >= WARM_UP_STEPS)))
      throw new Error('The load did not begin. Is the build current? Try npm run build.')
    await storm.rage(options.stormMs, options.intensity)
    timeline.add('The faults are over.')
    progress('the faults are over')
    const calmAt = performance.now()
    const restless = await settleDown(stage, watch, options.restMs)
    const restMs = performance.now() - calmAt
    return await assess(stage, { ...rehearsal, watch, storm, recoveries, restless, restMs })
  } finally {
    clearInterval(telling)
    await watch.stop()
  }
}

/** Everything is healed, every worker runs every version, and nothing new is started. */
async function settleDown(stage: Stage, watch: Watch, withinMs: number): Promise<readonly Violation[]> {
  const { fleet } = stage
  watch.finish()
  for (const seat of fleet.seats) {
    await seat.proxy.heal()
    seat.child?.tell({ type: 'name', found: true })
  }
  // Runs of version 2 must find a worker, whichever leaves. Those that were never upgraded have seen no such run.
  const mixed = fleet.workers.some(({ version }) => version === 'both')
  for (const seat of fleet.workers.filter(({ version }) => mixed && version === 'v1')) {
    seat.version = 'both'
    seat.child?.leave()
    await seat.child?.ended
    fleet.seat(seat)
  }
  return comeToRest(stage, withinMs)
}

interface Outcome extends Rehearsal {
  readonly watch: Watch
  readonly storm: Storm
  readonly recoveries: Recoveries
  readonly restless: readonly Violation[]
  readonly restMs: number
}

async function assess(stage: Stage, outcome: Outcome): Promise<Report> {
  const { options, timeline, heard, watch, storm, recoveries, restless, restMs, complaints } = outcome
  const { fleet, engine } = stage
  const { findings } = await engine.doctor({ overdueFor: '5s', pausedFor: '5s' })
  const settled = fleet.settled
  const late = await fleet.leave()
  const killed = new Set(fleet.children.filter(({ hasEnded }) => hasEnded).map(({ name }) => name))
  const facts = await collectFacts(stage, killed)
  const { violations, exceptions } = judge(facts, {
    effectSteps: EFFECT_STEPS,
    ledgerSteps: LEDGER_STEPS,
    openingCents: OPENING_CENTS,
  })
  const runs: Record<string, number> = {}
  for (const { status } of facts.runs) runs[status] = (runs[status] ?? 0) + 1
  return {
    ...{ seed: options.seed, stormMs: options.stormMs, elapsedMs: timeline.elapsedMs, restMs },
    ...{ leaseMs: LEASE_MS, tickMs: TICK_MS, runs, settled, exceptions },
    faults: storm.counts,
    recoveries: recoveries.times,
    discarded: fleet.sum('discarded'),
    leasesLost: fleet.sum('leasesLost'),
    failedCalls: heard.failures,
    errors: heard.errors,
    violations: [
      ...restless,
      ...watch.violations,
      ...violations,
      ...summarised('process_died', heard.deaths),
      ...summarised('call_hangs', heard.hangs),
      ...complaints,
      ...summarised(
        'close_hangs',
        late.map((name) => `${name} did not leave at the end within 15 s.`),
      ),
      ...summarised(
        'unhealthy',
        findings.map(({ message }) => `doctor() at rest: ${message}`),
      ),
    ],
    timeline: timeline.lines,
  }
}
