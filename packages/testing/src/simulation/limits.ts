import type { Engine, StepEvent, WorkflowDefinition } from '@belay/workflow'
import { templateOf } from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'
import { isOfFamilies, isRaised } from './families.ts'
import type { Operation } from './operator.ts'
import type { Plan, SimulatedStep, Version } from './plan.ts'
import type { Random } from './random.ts'

/** The most slots that a key of any limit of a world ever has. */
const SLOTS_MAX = 2
/** The step of a slot that its run has. */
const OF_RUN = -1
/** The limit that steps of all workflows share. */
const SHARED = 'shared'

/**
 * Limits some of the steps of a world's plans. With random numbers of its own. Worlds with limited maps stay as they are: they show what they are for
 * only if their items are under way together.
 */
export function withLimits(plans: readonly Plan[], random: Random): readonly Plan[] {
  if (plans.some(limitsMaps)) return plans
  return plans.map((plan) => (random.chance(0.5) ? plan : limited(plan, random)))
}

function limitsMaps({ versions }: Plan): boolean {
  return versions.some(({ steps }) =>
    Object.values(steps).some((step) => 'concurrency' in step && typeof step.concurrency === 'number'),
  )
}

function limited(plan: Plan, random: Random): Plan {
  const chosen = new Map<string, SimulatedStep>()
  const versions = plan.versions.map(({ steps, ...version }): Version => {
    const entries = Object.entries(steps).map(([name, step]) => {
      const known = chosen.get(name)
      const mine = known === undefined ? limitedStep(step, random) : { ...step, ...limitOf(known) }
      chosen.set(name, mine)
      return [name, mine] as const
    })
    return { ...version, steps: Object.fromEntries(entries) }
  })
  return { ...plan, versions }
}

/** Lets some of the limited steps be skipped instead of waiting. With random numbers of its own. */
export function leavingLimits(plans: readonly Plan[], random: Random): readonly Plan[] {
  return plans.map((plan) => {
    // The same in all versions: a run may move from one to the other.
    const leaving = new Map<string, boolean>()
    const versions = plan.versions.map((version): Version => {
      const steps = Object.entries(version.steps).map(([name, step]) => {
        if (!leaving.has(name)) leaving.set(name, random.chance(0.5))
        return [name, leaving.get(name) === true ? skippedAtLimit(step) : step] as const
      })
      return { ...version, steps: Object.fromEntries(steps) }
    })
    return { ...plan, versions }
  })
}

function skippedAtLimit(step: SimulatedStep): SimulatedStep {
  if (!('handler' in step) || 'over' in step || !Array.isArray(step.concurrency)) return step
  const [first, ...others] = step.concurrency
  const { when = 'decide' } = step
  // Limits that are shared say the same everywhere.
  const limit = first.name === undefined ? 1 : first.limit
  return { ...step, when, concurrency: [{ ...first, limit, atLimit: 'skip' }, ...others] }
}

/** Whether the plan, or any of its steps, has limits. A world without them is as it was before there were any. */
export function hasLimits({ versions, limits }: Plan): boolean {
  if (limits !== undefined) return true
  return versions.some(({ steps }) =>
    Object.values(steps).some(
      (step) => ('concurrency' in step && typeof step.concurrency === 'object') || 'rateLimit' in step,
    ),
  )
}

function limitOf(step: SimulatedStep): object {
  return 'concurrency' in step && typeof step.concurrency === 'object'
    ? { concurrency: step.concurrency }
    : {}
}

function limitedStep(step: SimulatedStep, random: Random): SimulatedStep {
  const works = ('handler' in step || 'repeat' in step) && !('workflow' in step)
  if (!works || ('concurrency' in step && step.concurrency !== undefined) || random.chance(0.4)) return step
  const own = { limit: SLOTS_MAX, ...(random.chance(0.6) ? { key: 'limitKey' } : {}) }
  const shared = { ...own, name: SHARED }
  return { ...step, concurrency: random.pick([[own], [shared], [own, shared]]) } as SimulatedStep
}

/** The `limitKey` of limited steps: one of two. */
export function limitKey({ runId }: { readonly runId: string }): string {
  return Number.parseInt(runId.slice(-1), 16) % 2 === 0 ? 'even' : 'odd'
}

/** Changes a limit at run time. */
export function limitOperation(random: Random): Operation {
  const concurrency = random.pick([0, 1, SLOTS_MAX])
  return {
    name: 'set a limit',
    act: async ({ engine }) => {
      const limits = await engine.limits.list()
      if (limits.length === 0) return
      const { name, rateLimit } = random.pick(limits)
      await engine.limits.set(
        name,
        rateLimit === undefined ? concurrency : { rateLimit: { limit: 4 * concurrency, per: '1s' } },
      )
      await engine.limits.lines(name)
    },
  }
}

/** Goes back to what code says, so that everything can come to rest. */
export async function resetLimits(engine: Engine): Promise<void> {
  for (const { name, set, concurrency } of await engine.limits.list())
    if (set !== undefined && !isRaised(concurrency)) await engine.limits.reset(name)
}

/** By its name: as many as come in time are under way under a rate. */
function isRate(limit: string): boolean {
  return limit.endsWith(':rate')
}

/** More slots taken than a key ever had. */
export function checkSlots({ limits }: Dump, broken: (violation: string) => void): void {
  const taken = new Map<string, number>()
  for (const { limit, key } of limits?.slots ?? []) {
    if (isRate(limit) || isOfFamilies(limit)) continue
    const name = `${limit} of ${key}`
    taken.set(name, (taken.get(name) ?? 0) + 1)
  }
  for (const [name, count] of taken)
    if (count > SLOTS_MAX) broken(`limit ${name} has ${count} slots taken of ${SLOTS_MAX}`)
}

/** A handler was called by the worker that holds its step: then it has a slot of each limit. */
export function checkEntered(
  { limits }: Dump,
  { event, found, definition }: { event: StepEvent; found: RunDump; definition: WorkflowDefinition },
  broken: (violation: string) => void,
): void {
  const row = found.steps.find(({ name }) => name === event.step)
  if (limits === undefined || row?.status !== 'running' || row.workerId !== event.workerId) return
  const step = definition.steps[templateOf(row.step)]!
  const { map } = step
  const isItem = templateOf(row.step) !== row.step
  const own = isItem && (map?.part === 'map' || map?.part === 'repeat') ? map.item.limits : step.limits
  for (const { name, of } of own ?? []) {
    const has = limits.slots.some(
      (slot) =>
        slot.limit === name &&
        slot.runId === event.runId &&
        (of === 'run' ? slot.step === OF_RUN : slot.step === row.step && slot.fence === row.fence) &&
        !slot.isGiven,
    )
    if (!has) broken(`step ${event.step} of run ${event.runId} runs without a slot of limit ${name}`)
  }
}

/** Whether no slot is taken and nobody waits for one. */
export function areLimitsAtRest({ limits }: Dump): boolean {
  return limits === undefined || limits.slots.length === 0
}
