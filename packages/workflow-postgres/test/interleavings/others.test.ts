import { createEngine } from '@belay/workflow'
import type { Claim, Outcome, SavedDefinition, Settlement } from '@belay/workflow/adapter'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { servers } from '../setup/database.ts'
import { completed, failed } from '../setup/outcomes.ts'
import { itHolds } from './expect-orders.ts'
import type { Pair } from './explore.ts'
import type { Session } from './session.ts'
import { World } from './world.ts'

// Rarer pairs. Both callers get an allowed answer, the invariants hold, and every run ends.

interface Given {
  readonly world: World
  readonly definition: SavedDefinition
  readonly runId: string
  readonly one: Session
  readonly two: Session
}

interface Callers {
  readonly one: () => Promise<unknown>
  readonly two: () => Promise<unknown>
  check?(one: unknown, two: unknown): Promise<void>
}

const EDGES = { a: [], b: ['a'], c: ['a'] }
const ENDED_BEFORE = Date.UTC(2100, 0, 1)

/** A pair whose callers may be refused by an operator's rule, and never fail in another way. */
function pair(
  name: string,
  meet: (given: Given) => Promise<Callers> | Callers,
  edges: Readonly<Record<string, readonly string[]>> = EDGES,
): Pair {
  return {
    name,
    async given(world) {
      const definition = await world.definition(name, edges)
      const runId = await world.start(definition)
      const { check, ...callers } = await meet({ world, definition, runId, ...world.sessions })
      return {
        ...callers,
        async check(one, two) {
          for (const told of [one, two]) {
            if (told.status === 'rejected') expect(told.reason).toMatchObject({ code: REFUSED })
          }
          const [first, second] = [one, two].map((told) =>
            told.status === 'fulfilled' ? told.value : undefined,
          )
          await check?.(first, second)
        },
      }
    },
  }
}

const REFUSED = expect.stringMatching(/^(action_refused|unknown_run)$/)

const claim = ({ adapter, workerId }: Session, { id }: SavedDefinition) =>
  adapter.claim({ workerId, definitionIds: [id], limit: 10 })

const settle = ({ adapter, workerId }: Session, outcomes: readonly Outcome[]): Promise<Settlement> =>
  adapter.settle({ workerId, outcomes, handBackMax: 10 })

const retry = (claimed: Claim): Outcome => ({
  ...claimed,
  type: 'retry',
  error: '{"name":"Error","message":"no"}',
  delayMs: 0,
})

const compensated = (claimed: Claim): Outcome => ({ ...claimed, type: 'compensated' })

/** Moves the run to a version with one more step before all others, so that each step gets a new number. */
async function mover({ world, definition, runId }: Given): Promise<(session: Session) => Promise<boolean>> {
  const { name } = definition
  const edges = Object.fromEntries(
    definition.shape.steps.map((step) => [
      step.name,
      step.dependsOn.map((number) => definition.shape.steps[number]!.name),
    ]),
  )
  const { id: _, ...record } = await world.definition(name, { intro: [], ...edges }, 2)
  return ({ adapter }) => createEngine({ adapter }).migrateRun(runId, { name, version: 2, record } as never)
}

/** Completes the run's first step and fails all others. */
async function fail({ world, definition }: Given): Promise<void> {
  await world.settle((await world.claim(definition)).map(completed))
  await world.settle((await world.claim(definition)).map(failed))
}

/** The same without an undo: the run ends as failed. */
async function end(given: Given): Promise<void> {
  await fail(given)
  const plan = given.world.planUndo(await given.world.drained(given.runId))
  await given.world.store.beginUndo([{ ...plan, endsAs: 'failed', undos: [] }])
}

const RARE: readonly Pair[] = [
  pair('resume/claim', async ({ world, definition, runId, one, two }) => {
    await world.operate(runId, one).pause()
    return { one: () => world.operate(runId, one).resume(), two: () => claim(two, definition) }
  }),
  pair('resume/settle', async ({ world, definition, runId, one, two }) => {
    const claims = await world.claim(definition, two.workerId)
    await world.operate(runId, one).pause()
    return { one: () => world.operate(runId, one).resume(), two: () => settle(two, claims.map(completed)) }
  }),
  pair('migrate/claim', async (given) => {
    const move = await mover(given)
    return { one: () => move(given.one), two: () => claim(given.two, given.definition) }
  }),
  pair('migrate/retry', async (given) => {
    const [move, claims] = [await mover(given), await given.world.claim(given.definition, given.two.workerId)]
    return { one: () => move(given.one), two: () => settle(given.two, claims.map(retry)) }
  }),
  pair('migrate/sweep', async (given) => {
    const move = await mover(given)
    await given.world.claim(given.definition, given.one.workerId)
    await given.world.expire(given.one)
    return { one: () => move(given.one), two: () => given.two.adapter.sweep({ limit: 10 }) }
  }),
  pair('migrate/cancel', async (given) => {
    const move = await mover(given)
    return { one: () => move(given.one), two: () => given.world.operate(given.runId, given.two).cancel() }
  }),
  pair('retry/migrate', async (given) => {
    await end(given)
    const move = await mover(given)
    return { one: () => given.world.operate(given.runId, given.one).retry(), two: () => move(given.two) }
  }),
  pair('skip/deliver', async ({ world, definition, runId, one, two }) => {
    const waiting = (await world.claim(definition)).map((each) => ({
      ...each,
      type: 'waiting' as const,
      wake: null,
    }))
    await world.settle(waiting)
    return {
      one: () => world.operate(runId, one).skipStep('a'),
      two: () => two.adapter.deliverSignals([world.signal(definition, runId, 0)]),
    }
  }),
  pair('cancel/claim', ({ world, definition, runId, one, two }) => ({
    one: () => world.operate(runId, one).cancel(),
    two: () => claim(two, definition),
  })),
  pair('cancel/retry', async ({ world, definition, runId, one, two }) => {
    const claims = await world.claim(definition, two.workerId)
    return { one: () => world.operate(runId, one).cancel(), two: () => settle(two, claims.map(retry)) }
  }),
  pair('cancel/sweep', async ({ world, definition, runId, one, two }) => {
    await world.claim(definition, one.workerId)
    await world.expire(one)
    return { one: () => world.operate(runId, one).cancel(), two: () => two.adapter.sweep({ limit: 10 }) }
  }),
  pair('sweep/renew', async ({ world, definition, one, two }) => {
    await world.claim(definition, two.workerId)
    await world.expire(two)
    return {
      one: () => one.adapter.sweep({ limit: 10 }),
      two: () => two.adapter.renew({ workerId: two.workerId, leaseMs: 600_000 }),
      async check(_, renewed) {
        const live = await world.sql(
          `select 1 from belay.workflow_workers where id = $1 and status = 'live' and lease_expires_at > now()`,
          [two.workerId],
        )
        expect(live, 'live as it was told').toHaveLength(renewed === 'lost' ? 0 : 1)
      },
    }
  }),
  pair('sweep/begin-undo', async (given) => {
    await fail(given)
    const { world, runId, one, two } = given
    const plan = world.planUndo(await world.drained(runId))
    await world.expire(two)
    return {
      one: () => one.adapter.sweep({ limit: 10 }),
      two: () => two.adapter.beginUndo([plan], { workerId: two.workerId, handBackMax: 10 }),
    }
  }),
  pair('sweep/settle-undo', async (given) => {
    await fail(given)
    const { world, runId, one, two } = given
    const plan = world.planUndo(await world.drained(runId))
    const [begun] = await world.store.beginUndo([plan], { workerId: two.workerId, handBackMax: 10 })
    await world.expire(two)
    return {
      one: () => one.adapter.sweep({ limit: 10 }),
      two: () => settle(two, begun!.claims!.map(compensated)),
    }
  }),
  pair('settle/settle again', async ({ world, definition, one, two }) => {
    const claims = await world.claim(definition, one.workerId)
    const again = (session: Session) =>
      session.adapter.settle({ workerId: one.workerId, outcomes: claims.map(completed), handBackMax: 10 })
    return {
      one: () => again(one),
      two: () => again(two),
      async check(first, second) {
        const settlements = [first, second] as Settlement[]
        expect(settlements.flatMap(({ results }) => results)).toEqual(['settled', 'settled'])
        expect(settlements.flatMap((settlement) => settlement.claims)).toHaveLength(2)
      },
    }
  }),
]

const pruneAndMigrate = pair('prune/migrate', async (given) => {
  await end(given)
  const { world, runId, one, two } = given
  const move = await mover(given)
  return {
    one: () => one.adapter.prune({ runIds: [runId], finishedBefore: ENDED_BEFORE }),
    two: () => move(two),
    async check(pruned) {
      if ((pruned as readonly string[]).length === 0) return
      for (const table of ['steps', 'signals', 'history']) {
        const rows = await world.sql(`select step from belay.workflow_${table}`)
        expect(rows, `rows in ${table} of a pruned run`).toEqual([])
      }
    },
  }
})

describe.each(servers)('rarer pairs in every order, on $name', ({ url }) => {
  let world: World
  beforeAll(async () => {
    world = await World.create(url, { isThorough: process.env['ORDERS'] === 'all' })
  })
  afterAll(() => world.close())

  for (const rare of RARE) itHolds('both get an answer, and the run ends correctly', rare, () => world)
  itHolds('a run is deleted entirely, or it has its new version', pruneAndMigrate, () => world)
})
