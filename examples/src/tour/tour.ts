import { createEngine } from '@belay/workflow'
import { currentShowing } from '../demonstration/showing.ts'
import { openPostgres, type Store } from '../demonstration/store.ts'
import { readCardRequests, readShelves } from '../order/accounts.ts'
import { fulfilOrder } from '../order/fulfil-order.ts'
import { checkCompleted, checkUndone } from '../order/order-checks.ts'
import { goodOrder, undeliverableOrder } from '../order/orders.ts'
import { createShopTables, openShop, restock } from '../order/shop/index.ts'
import { fitted, textsOf } from '../terminal/fitting.ts'
import type { Keyboard } from '../terminal/keyboard.ts'
import type { Screen } from '../terminal/screen.ts'
import { closingLines } from './closing-page.ts'
import { Crew } from './crew.ts'
import { readOpeningPage } from './opening-page.ts'
import { Reader, untilSeen } from './reader.ts'
import { type Props, play, type Scene } from './scene.ts'
import { Lookout, type Sight, type WorkerSight } from './sight.ts'
import { openTourDatabase, type TourDatabase } from './tour-database.ts'

/** Short, so that nobody waits long for the takeover. */
const LEASE_MS = 3_000
/** Longer than a reader hesitates to press k, and shorter than the timeout of chargeCard. */
const SILENT_MS = 15_000
/** In paces: how long a worker is left alive, and how long a page stands. */
const KILL_PACES = 12
const PAGE_PACES = 26

export interface TourSettings {
  readonly screen: Screen
  readonly keyboard: Keyboard
  readonly interrupted: AbortSignal
  /** Of the user's PostgreSQL; undefined to start one for the tour. */
  readonly url: string | undefined
  readonly paceMs: number
  readonly sql: boolean
}

/**
 * Shows a workflow's code, an order whose worker is killed, and an order that is undone. Returns whether every promise was kept. Throws NoServerError
 * if no PostgreSQL can be started.
 */
export async function giveTour(settings: TourSettings): Promise<boolean> {
  const { screen, interrupted, url } = settings
  const page = await readOpeningPage(screen.colours)
  const showCode = (...below: readonly string[]) => screen.drawPage((size) => page(below, size))
  screen.turnPage()
  if (!screen.live) screen.print(...page([], screen.size))
  showCode(url === undefined ? 'Starting PostgreSQL and two workers …' : 'Starting two workers …')
  const tourDatabase = await openTourDatabase(url)
  try {
    interrupted.throwIfAborted()
    return await onDatabase(settings, tourDatabase, async (props) => {
      const setting = settingOf(tourDatabase, props.crew)
      if (!screen.live) screen.print(setting)
      await untilSeen(props, (footer) => showCode(setting, '', footer))
    })
  } finally {
    await tourDatabase.close()
  }
}

/** Opens what the scenes need, plays them after the overture, and closes everything. */
async function onDatabase(
  { screen, keyboard, interrupted, paceMs, sql }: TourSettings,
  { url }: TourDatabase,
  overture: (props: Props) => Promise<void>,
): Promise<boolean> {
  const store = await openPostgres(url)
  const lease = `${LEASE_MS}ms` as const
  const crew = new Crew({ url, lease, paceMs, silentMs: SILENT_MS })
  try {
    const { adapter, database } = store
    await createShopTables(database)
    const workflow = fulfilOrder(openShop(database))
    const engine = createEngine({ adapter, workflows: [workflow] })
    const lookout = new Lookout({ adapter, database, engine, members: () => crew.members })
    const reader = new Reader(keyboard, interrupted)
    const pageMs = paceMs * PAGE_PACES
    const props = {
      screen,
      reader,
      crew,
      lookout,
      engine,
      workflow,
      database,
      leaseMs: LEASE_MS,
      pageMs,
      sql,
    }
    await crew.complete()
    interrupted.throwIfAborted()
    await overture(props)
    return await playScenes(props, store, paceMs * KILL_PACES)
  } finally {
    await crew.dismiss()
    await store.close()
  }
}

async function playScenes(props: Props, { database }: Store, killAfterMs: number): Promise<boolean> {
  const { id, remember, finish } = await currentShowing(database, 'shop', () => restock(database))
  const first = await play(killedScene(props, `order-${id}-a`, killAfterMs), props)
  const shelves = await remember('shelves between', () => readShelves(database))
  await props.crew.complete()
  const second = await play(undoneScene(props, `order-${id}-b`, shelves), props)
  await finish()
  const kept = first && second
  const { screen } = props
  const { bold, green, red } = screen.colours
  const verdict = kept ? green('Every promise was kept.') : red('Not every promise was kept: see ✘ above.')
  const lines = [bold(verdict), { spare: '' }, ...closingLines(screen.colours)]
  screen.turnPage()
  screen.drawPage((size) => fitted(lines, size))
  if (screen.live) screen.leavePage()
  else screen.print('', ...textsOf(lines))
  return kept
}

function killedScene({ database }: Props, id: string, killAfterMs: number): Scene {
  const order = goodOrder(id)
  return {
    title: 'Order 1 of 2: a worker is killed while it charges a card',
    order,
    isUndone: false,
    killAfterMs,
    // The moment at which a crash costs most: the money has moved, and nothing tells that the step is done.
    victim: (sight) =>
      sight.requests.some(({ moved_cents }) => moved_cents > 0) ? workerAt(sight, 'chargeCard') : undefined,
    async check(checklist, run) {
      await checkCompleted(database, checklist, { run, order })
      const requests = await readCardRequests(database, id)
      checklist.check('asked again with that key, the network moved nothing', {
        actual: [
          requests.length >= 2,
          new Set(requests.map(({ charge_id }) => charge_id)).size,
          requests.filter(({ moved_cents }) => moved_cents > 0).length,
        ],
        expected: [true, 1, 1],
      })
    },
  }
}

function undoneScene({ database }: Props, id: string, shelves: Readonly<Record<string, number>>): Scene {
  const order = undeliverableOrder(id)
  return {
    title: 'Order 2 of 2: no mail can be sent, so all is undone again',
    order,
    isUndone: true,
    killAfterMs: undefined,
    victim: (sight) => workerAt(sight),
    async check(checklist, run) {
      await checkUndone(database, checklist, { run, order })
      checklist.check('every shelf holds what it held before', {
        actual: await readShelves(database),
        expected: shelves,
      })
    },
  }
}

/** The living worker that holds a step, any or this one, if another is there to take over. */
function workerAt({ workers }: Sight, step?: string): WorkerSight | undefined {
  const alive = workers.filter(({ isKilled }) => !isKilled)
  if (alive.length < 2) return undefined
  return alive.find(({ holds }) => (step === undefined ? holds.length > 0 : holds.includes(step)))
}

function settingOf({ description }: TourDatabase, { members }: Crew): string {
  const workers = members.map(({ name, pid }) => `${name} (pid ${pid})`).join(' and ')
  return `Two processes work for it: ${workers}, on ${description}.`
}
