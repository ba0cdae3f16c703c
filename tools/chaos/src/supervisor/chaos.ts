import { FAULTS } from '../faults/all.ts'
import type { ChaosOptions } from '../options.ts'
import type { Violation } from '../oracle/violation.ts'
import { until } from '../pause.ts'
import { Random } from '../random.ts'
import type { Report } from '../report/report.ts'
import { Timeline } from '../report/timeline.ts'
import { assess, type Course } from './assess.ts'
import { FaultLoop } from './fault-loop.ts'
import { Fleet } from './fleet.ts'
import { Guard } from './guard.ts'
import { Heard } from './heard.ts'
import { Operator } from './operator.ts'
import { Planner } from './planner.ts'
import { Recoveries } from './recoveries.ts'
import { settleDown } from './rest.ts'
import { openServers } from './servers.ts'
import type { Stage } from './stage.ts'
import { Watch } from './watch.ts'

const LEASE_MS = 1_500
const TICK_MS = 100
const WARM_UP_MS = 30_000
const WARM_UP_STEPS = 30
const PROGRESS_MS = 5_000
/** How long the load goes on without faults until every feature was met. */
const MEET_MS = 30_000

/** Runs the whole harness, and reports the result. `progress` gets a line now and then. */
export async function chaos(options: ChaosOptions, progress: (line: string) => void): Promise<Report> {
  const course: Course = {
    ...{ options, progress, leaseMs: LEASE_MS, tickMs: TICK_MS },
    timeline: new Timeline(options.timelineMax),
    heard: new Heard(),
    recoveries: new Recoveries(),
    complaints: [],
  }
  const guard = new Guard()
  const servers = await openServers()
  const random = new Random(options.seed)
  const fleet = await openFleet(course, { guard, servers, random })
  const { server, database, world, engine, workflows } = servers
  const stage: Stage = {
    ...{ server, fleet, guard, random, database, world, engine, workflows, leaseMs: LEASE_MS },
    troubles: new Set(),
    archive: new Map(),
    complain(violation) {
      course.timeline.add(violation.sentence)
      course.complaints.push(violation)
    },
  }
  try {
    return await runThrough(stage, course)
  } finally {
    await fleet.close()
    await servers.close()
    guard.close()
  }
}

interface FleetFrom {
  readonly guard: Guard
  readonly servers: Awaited<ReturnType<typeof openServers>>
  readonly random: Random
}

function openFleet(
  { options, timeline, heard }: Course,
  { guard, servers, random }: FleetFrom,
): Promise<Fleet> {
  return Fleet.open(options.workers, {
    guard,
    serverPort: servers.server.port,
    database: new URL(servers.url).pathname.slice(1),
    worldUrl: servers.worldUrl,
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
}

/** Warms up, lets faults happen, waits for rest, and judges. */
async function runThrough(stage: Stage, course: Course): Promise<Report> {
  const { options, timeline, progress, recoveries } = course
  const watch = new Watch(stage, recoveries)
  const faults = FAULTS.filter((fault) => options.classes.includes(fault.class))
  const loop = new FaultLoop(stage, { faults, timeline, recoveries })
  const operator = new Operator(stage)
  const planner = new Planner(stage, new Random(options.seed + 1))
  const telling = setInterval(() => progress(progressLine(course, { watch, loop })), PROGRESS_MS)
  watch.start()
  operator.start()
  planner.start()
  try {
    await warmUp(stage, course)
    await loop.run(options.faultsMs, options.intensity)
    timeline.add('The faults are over.')
    progress('the faults are over')
    // On a slow machine, some features may not have been met yet.
    await until(MEET_MS, 500, () => Object.values(watch.features).every((count) => count > 0))
    const calmAt = performance.now()
    watch.finish()
    await Promise.all([operator.stop(), planner.stop()])
    const restless: readonly Violation[] = await settleDown(stage, options.restMs)
    const restMs = performance.now() - calmAt
    const { counts, troubles } = loop
    const watched = () => watch.violations
    return await assess(stage, course, { watched, faults: counts, troubles, restless, restMs })
  } finally {
    clearInterval(telling)
    await Promise.all([operator.stop(), planner.stop(), watch.stop()])
  }
}

async function warmUp({ fleet }: Stage, { heard }: Course): Promise<void> {
  if (await until(WARM_UP_MS, 100, () => fleet.settled >= WARM_UP_STEPS)) return
  const deaths = heard.deaths.slice(0, 3).join('\n')
  throw new Error(
    `The load did not begin within ${WARM_UP_MS} ms. Is the build current? Try npm run build.\n${deaths}`,
  )
}

function progressLine({ timeline }: Course, { watch, loop }: { watch: Watch; loop: FaultLoop }): string {
  const struck = Object.entries(loop.counts).map(([name, count]) => `${count} ${name}`)
  const seconds = Math.round(timeline.elapsedMs / 1_000)
  const met = Object.entries(watch.features).map(([name, count]) => `${count} ${name}`)
  return `${seconds} s: ${watch.ended} runs done, ${watch.open} open; ${struck.join(', ') || 'no fault yet'}; met: ${met.join(', ')}`
}
