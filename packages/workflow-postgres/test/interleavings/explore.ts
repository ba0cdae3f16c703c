import { within } from '../setup/within.ts'
import type { Begun, Session, State, Stop } from './session.ts'
import type { World } from './world.ts'

/** Two callers of the store, each in its own session, and what must hold for every order of their statements. */
export interface Pair<One = unknown, Two = unknown> {
  /** Their names, as in `deliver/migrate`. */
  readonly name: string
  /** Prepares the state that they work on. Called anew for each order, on an empty store. */
  given(world: World): Promise<Meeting<One, Two>>
}

export interface Meeting<One, Two> {
  readonly one: () => Promise<One>
  readonly two: () => Promise<Two>
  /** Compares the callers' answers with the rows. Called when both have ended, before a worker finishes the run. */
  check(one: PromiseSettledResult<One>, two: PromiseSettledResult<Two>): Promise<void>
  /** Called at the very end, when every run has ended. */
  finally?(): Promise<void>
}

type Side = 'one' | 'two'

/** `first` runs until its stop, then the other one until its own. Then `first` ends, then the other one. */
interface Order {
  readonly first: Side
  readonly stops: Readonly<Record<Side, Stop | null>>
}

export interface Failure {
  readonly order: string
  readonly message: string
  readonly trace: string
}

export interface Exploration {
  readonly orders: number
  /** How many orders stopped a session at a point. */
  readonly stopped: number
  readonly failures: readonly Failure[]
}

/** A stop after everything that a session does: it is never reached. */
const NOWHERE: Stop = { statement: Number.POSITIVE_INFINITY, point: 0 }

/**
 * Runs a pair in every order: each session is stopped at each of its telling points while the other one runs as far as it can. With ORDERS it is
 * stopped at each of its points. In a thorough world both are stopped, at each pair of telling points. The points are not given: running an order
 * reveals them. `ORDER` runs a single order, in the form that a failure prints.
 */
export async function explore(pair: Pair, world: World): Promise<Exploration> {
  const failures: Failure[] = []
  let [orders, stopped] = [0, 0]
  const run = async (order: Order) => {
    orders += 1
    const reached = { one: false, two: false }
    try {
      await runOrder(pair, world, order, reached)
    } catch (error) {
      const trace = traceOf(pair, world.sessions)
      failures.push({ order: textOf(pair, order), message: messageOf(error), trace })
    }
    if (reached.one || reached.two) stopped += 1
    return reached
  }
  const single = process.env['ORDER']
  if (single !== undefined) await run(orderOf(pair, single))
  else {
    const isThorough = world.isThorough || isDrawn(pair)
    for (const first of ['one', 'two'] as const) await exploreFrom(first, { world, isThorough }, run)
  }
  return { orders, stopped, failures }
}

/** With SAMPLE, a number for each day in CI, both callers of one pair in so many are stopped. */
const DRAWN_OF = 16

function isDrawn({ name }: Pair): boolean {
  const { SAMPLE } = process.env
  if (SAMPLE === undefined) return false
  const number = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 7)
  return number % DRAWN_OF === Number(SAMPLE) % DRAWN_OF
}

async function exploreFrom(
  first: Side,
  { world, isThorough }: { readonly world: World; readonly isThorough: boolean },
  run: (order: Order) => Promise<Readonly<Record<Side, boolean>>>,
): Promise<void> {
  const second = first === 'one' ? 'two' : 'one'
  const known = new Map<string, FoundStop>()
  const learn = () => {
    for (const stop of stopsOf(world.sessions[first])) known.set(keyOf(stop), stop)
  }
  await run({ first, stops: { one: null, two: null } })
  learn()
  const isQuick = process.env['ORDERS'] === undefined
  // Also visits entries added during the loop: stopped earlier, a session may do something new.
  for (const stop of known.values()) {
    if (isQuick && !stop.isTelling) continue
    const stops = { one: null, two: null, [first]: stop }
    const reached = await run({ first, stops })
    learn()
    if (!reached[first] || !isThorough || !stop.isTelling) continue
    for (const between of stopsOf(world.sessions[second])) {
      // Before its first statement it has done nothing: then it runs entirely second.
      if (!between.isTelling || keyOf(between) === '0.0') continue
      const both = await run({ first, stops: { ...stops, [second]: between } })
      learn()
      // It was waiting for the other one before it got there, so it would also wait at later points.
      if (!both[second]) break
    }
  }
}

interface FoundStop extends Stop {
  /** Whether it is worthwhile to stop here in `npm run proofs`, or while the other one is stopped too. */
  readonly isTelling: boolean
}

// In the middle of a statement that writes to many tables, all points are alike once it has its locks. The first points and the last one are enough
// if both are stopped, unless ORDERS=all. Without ORDERS these are: before the statement, when it has its snapshot, and when it has written everything.
const TELLING_MAX = { quick: 1, thorough: 2 } as const

/** The points at which a session could have been stopped in the order just run. */
function stopsOf({ passed }: Session): readonly FoundStop[] {
  const orders = process.env['ORDERS']
  const wantsAll = orders === 'all'
  const tellingMax = TELLING_MAX[orders === undefined ? 'quick' : 'thorough']
  return passed.flatMap(({ points: { length } }, statement) =>
    Array.from({ length: length + 1 }, (_, point) => ({
      statement,
      point,
      isTelling: wantsAll || point <= tellingMax || point === length,
    })),
  )
}

const keyOf = ({ statement, point }: Stop) => `${statement}.${point}`

/** Reports in `reached` which stops the sessions reached. */
async function runOrder(
  pair: Pair,
  world: World,
  order: Order,
  reached: Record<Side, boolean>,
): Promise<void> {
  await world.reset()
  const meeting = await pair.given(world)
  const [one, two] = await meet(world, meeting, order, reached)
  await world.assertInvariants()
  await meeting.check(one, two)
  await world.finish()
  await world.assertInvariants()
  await meeting.finally?.()
}

/** How long to wait for a session to reach a stop. After that it is waiting in a way that the server does not show, and the other one goes on. */
const PATIENCE_MS = 1_000

/** For hangs. */
const END_MS = 20_000

async function meet(
  world: World,
  meeting: Meeting<unknown, unknown>,
  { first, stops }: Order,
  reached: Record<Side, boolean>,
): Promise<readonly [PromiseSettledResult<unknown>, PromiseSettledResult<unknown>]> {
  const second = first === 'one' ? 'two' : 'one'
  const { sessions } = world
  const begun = {} as Record<Side, Begun<unknown>>
  begun[first] = await sessions[first].begin(meeting[first], stops[first] ?? NOWHERE)
  reached[first] = (await standstill(begun[first])) === 'stopped'
  begun[second] = await sessions[second].begin(meeting[second], stops[second] ?? NOWHERE)
  reached[second] = (await standstill(begun[second])) === 'stopped'
  await sessions[first].release()
  await standstill(begun[first])
  await sessions[second].release()
  return within(Promise.all([begun.one.answer, begun.two.answer]), END_MS, 'both callers to end')
}

/** Waits until it has ended, is stopped, or waits for a lock of the other one. */
async function standstill(begun: Begun<unknown>): Promise<State> {
  const until = performance.now() + PATIENCE_MS
  for (;;) {
    const state = await begun.state()
    if (state !== 'running' || performance.now() > until) return state
    // biome-ignore lint/style/noRestrictedGlobals: a pause between two looks at the server, which tells nobody of a wait.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

/** An order as text: `migrate@1.2 deliver@0.1`, without the @ for a caller that is not stopped. */
function textOf(pair: Pair, { first, stops }: Order): string {
  const [one, two] = pair.name.split('/') as [string, string]
  const name = (side: Side) => (side === 'one' ? `1:${one}` : `2:${two.replace(/ .*/, '')}`)
  const part = (side: Side) => name(side) + (stops[side] === null ? '' : `@${keyOf(stops[side])}`)
  return `${part(first)} ${part(first === 'one' ? 'two' : 'one')}`
}

function orderOf(pair: Pair, text: string): Order {
  const parts = text.split(' ').map((part) => {
    const [, side, stop] = /^([12]):[^@]*(?:@(.*))?$/.exec(part) ?? []
    if (side === undefined) throw new Error(`ORDER is not an order of ${pair.name}: ${text}`)
    const [statement, point] = stop?.split('.').map(Number) ?? []
    const at = statement === undefined ? null : { statement, point: point! }
    return { side: side === '1' ? ('one' as const) : ('two' as const), at }
  })
  const at = (side: Side) => parts.find((part) => part.side === side)?.at ?? null
  return { first: parts[0]!.side, stops: { one: at('one'), two: at('two') } }
}

/** What both did, statement by statement: `write_run_change(1 update workflow_steps, …)`. */
function traceOf(pair: Pair, sessions: World['sessions']): string {
  const names = pair.name.split('/')
  return (['one', 'two'] as const)
    .map((side, index) => {
      const steps = sessions[side].passed.map(({ statement, points }, number) => {
        const inside = points.map((point, at) => `${at + 1} ${point}`).join(', ')
        return `${number} ${statement}${inside === '' ? '' : ` (${inside})`}`
      })
      return `    ${names[index]}: ${steps.join('; ')}`
    })
    .join('\n')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
