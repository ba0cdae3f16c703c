import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgres } from '../../src/index.ts'
import { compile } from '../setup/children.ts'
import { createDatabase, servers, type TestDatabase } from '../setup/database.ts'
import { everyFeature, TABLES } from './every-feature.mjs'
import { FLOW_TABLES } from './flow-control.mjs'
import { finishFlow } from './flow-killed.ts'
import { wrongInFlow } from './flow-oracle.ts'
import { type Calls, finish, type Left, letDie } from './killed.ts'
import { flowKillPoints, killPoints, lastKillPoints, shareOf } from './points.ts'
import { SABOTAGES } from './sabotage.ts'

// KILL='before settle 3' runs one point alone.
const { KILL, KILL_POINTS } = process.env
const share = shareOf(KILL_POINTS)

/** A case mostly waits, for a lease to expire and for timers. */
const CASES_AT_ONCE = 10

let database: TestDatabase
beforeAll(async () => {
  compile()
  database = await openDatabase()
})
afterAll(() => database.drop())

async function openDatabase(): Promise<TestDatabase> {
  const opened = await createDatabase(servers[0]!.url)
  await postgres(opened.pool).migrate()
  await opened.pool.query(TABLES)
  await opened.pool.query(FLOW_TABLES)
  return opened
}

/** How often a broken mechanism may stay unseen by chance. */
const TRIES = 3

describe('a worker killed at any call of the store', () => {
  it('leaves a failing run that others undo: each effect once, in order', async () => {
    const { calls, left } = await unkilled('undone', true)
    expect(left.runs[0]).toMatchObject({ status: 'compensated' })
    expectOrder(left)
    expectOrderOfChild(left)

    await killEverywhere(killPoints(calls, share), everyFeatureAs('undone', true, left))
  }, 600_000)

  it('leaves a completing run that others complete: each effect once, in order', async () => {
    const { calls, left } = await unkilled('done', false)
    expect(left.runs[0]).toMatchObject({ status: 'completed' })
    expectOrder(left)
    expectOrderOfChild(left)

    const points = share === 'all' ? killPoints(calls, share) : lastKillPoints(calls, share)
    await killEverywhere(points, everyFeatureAs('done', false, left))
  }, 600_000)

  it('leaves limits, collected calls and schedules as they were: nothing over a limit, lost or doubled, and nothing left', async () => {
    const one = { name: 'flow-unkilled', fails: false, kill: '' }
    const calls = await letDie(database, one, 'flow-control')
    expect(wrongInFlow(await finishFlow(database, one))).toEqual([])

    await killEverywhere(flowKillPoints(calls!, share), async (kill) => {
      const killed = { name: `flow-${kill.replaceAll(' ', '-')}`, fails: false, kill }
      const isKilled = (await letDie(database, killed, 'flow-control')) === null
      expect(wrongInFlow(await finishFlow(database, killed))).toEqual([])
      return isKilled
    })
  }, 600_000)

  it('is judged by an oracle that sees each broken mechanism of flow control', async () => {
    const seen = await Promise.all(
      SABOTAGES.map(async (sabotage, index) => {
        const found: string[] = []
        // Some need two handlers to meet in time, which does not happen each time on a busy machine.
        for (let tries = 1; tries <= TRIES; tries += 1) {
          // Any worker fires any schedule: in one database, others would do what this one leaves out.
          const own = sabotage.isAlone === true ? await openDatabase() : database
          const wrong = wrongInFlow(await finishFlow(own, { name: `broken-${index}-${tries}` }, sabotage))
          if (own !== database) await own.drop()
          if (wrong.some((sentence) => sabotage.seen.test(sentence))) return []
          found.push(...wrong)
        }
        return [sabotage.what, ...found]
      }),
    )

    expect(seen.flat(), 'what the oracle did not see').toEqual([])
  }, 600_000)
})

/** What a process does if nobody kills it, and how often it calls the store for that. */
async function unkilled(kind: string, fails: boolean): Promise<{ calls: Calls; left: Left }> {
  const one = { name: `${kind}-unkilled`, fails, kill: '' }
  const calls = await letDie(database, one, 'every-feature')
  return { calls: calls ?? expect.fail('Nobody killed it, and it died.'), left: await finish(database, one) }
}

/** Kills a process at a point and compares what others make of its runs with the result of an unkilled process. Resolves to whether it was killed. */
function everyFeatureAs(kind: string, fails: boolean, right: Left): (kill: string) => Promise<boolean> {
  return async (kill) => {
    const one = { name: `${kind}-${kill.replaceAll(' ', '-')}`, fails, kill }
    const isKilled = (await letDie(database, one, 'every-feature')) === null
    const left = await finish(database, one)
    expectSame(left, right)
    expectOrder(left)
    expectOrderOfChild(left)
    return isKilled
  }
}

/** Kills a process at each of the points, a few at a time. */
async function killEverywhere(
  wanted: readonly string[],
  killAt: (kill: string) => Promise<boolean>,
): Promise<void> {
  const points = KILL === undefined ? wanted : [KILL]
  const failures: string[] = []
  let killed = 0
  const waiting = [...points]
  const kills = Array.from({ length: CASES_AT_ONCE }, async () => {
    for (let kill = waiting.shift(); kill !== undefined; kill = waiting.shift()) {
      try {
        // A batch may be larger than in the run before: then the last calls of a kind are not made.
        if (await killAt(kill)) killed += 1
      } catch (error) {
        failures.push(`KILL='${kill}' npx vitest run packages/workflow-postgres/test/kill-points\n  ${error}`)
      }
    }
  })
  await Promise.all(kills)

  if (failures.length > 0)
    expect.fail(`${failures.length} of ${points.length} kills:\n${failures.join('\n')}`)
  // A single point may not exist in this kind of run.
  if (KILL !== undefined) return
  expect(killed, 'most processes reached their kill point').toBeGreaterThanOrEqual(points.length / 2)
}

function expectSame(left: Left, right: Left): void {
  expect(left.runs, 'how the runs ended').toEqual(right.runs)
  expect(left.ledger, 'the rows of the ledger').toEqual(right.ledger)
  expect(left.effects, 'the effects by key').toEqual(right.effects)
  // A call that was under way is made again with the same key.
  expect([...new Set(left.calls)], 'the calls by key').toEqual([...new Set(right.calls)])
}

/** Each step runs after its dependencies, each undo after the undos of the dependents, and none before the step that it undoes. */
function expectOrder({ moments }: Left): void {
  const { steps } = everyFeature('order', null).record.shape
  const reached = steps.map(() => new Set<number>())
  steps.forEach(({ dependsOn }, number) => {
    for (const below of dependsOn) reached[number] = new Set([...reached[number]!, below, ...reached[below]!])
  })
  const keyOf = (number: number) => `0:${steps[number]!.name}`
  steps.forEach((_, number) => {
    const [key, undo] = [keyOf(number), `${keyOf(number)}:undo`]
    expectBefore(moments, [key, 'last'], [undo, 'first'])
    for (const below of reached[number]!) {
      // A try that fell silent or timed out may still run when the next one has ended.
      const end = ['slow', 'insure'].includes(steps[below]!.name) ? 'first' : 'last'
      expectBefore(moments, [keyOf(below), end], [key, 'first'])
      expectBefore(moments, [undo, 'last'], [`${keyOf(below)}:undo`, 'first'])
    }
  })
  // A loop's rounds and a map's items stand between the steps before them and those after them.
  expect(moments.has('0:label[3]'), 'the last round of the loop').toBe(true)
  const rounds = ['audit', 'label[1]', 'label[2]', 'label[3]', 'post']
  for (const chain of [rounds, ...[0, 1, 2].map((item) => ['reserve', `pack[${item}]`, 'post'])])
    expectChain(moments, chain)
}

function expectChain(moments: Left['moments'], chain: readonly string[]): void {
  chain.slice(1).forEach((name, index) => {
    const before = chain[index]!
    expectBefore(moments, [`0:${before}`, 'last'], [`0:${name}`, 'first'])
    expectBefore(moments, [`0:${name}:undo`, 'last'], [`0:${before}:undo`, 'first'])
  })
}

/** A child runs after what its step depends on, and before what depends on its step. It is undone the other way round. So are those of a loop's rounds. */
function expectOrderOfChild({ moments, runs }: Left): void {
  const gift = runs.length - 4
  const cards = [gift + 1, gift + 2].map((card) => `${card}:sign`)
  for (const card of cards) expect(moments.has(card), 'a card is signed in each round').toBe(true)
  const order = ['0:book', `${gift}:wrap`, `${gift}:label`, ...cards, '0:ship']
  for (const [place, key] of order.entries()) {
    for (const later of order.slice(place + 1)) {
      expectBefore(moments, [key, 'last'], [later, 'first'])
      expectBefore(moments, [`${later}:undo`, 'last'], [`${key}:undo`, 'first'])
    }
  }
}

type Moment = readonly [key: string, which: 'first' | 'last']

/** Compares only moments that exist: not every step has an effect or an undo. */
function expectBefore(moments: Left['moments'], earlier: Moment, later: Moment): void {
  const at = ([key, which]: Moment) => moments.get(key)?.[which === 'first' ? 0 : 1]
  const [before, after] = [at(earlier), at(later)]
  if (before === undefined || after === undefined) return
  expect(before, `${earlier} came before ${later}`).toBeLessThan(after)
}
