import type { Engine, RunHandle, RunSnapshot } from '@belay/workflow'
import type { Database } from '../database.ts'
import { readSqlRows, STEP_ROWS_SQL, sqlLines } from '../demonstration/sql-rows.ts'
import type { CardRequest } from '../order/accounts.ts'
import type { FulfilOrder } from '../order/fulfil-order.ts'
import { undoOrderOf } from '../order/order-checks.ts'
import type { Order } from '../order/shop/index.ts'
import { Checklist } from '../terminal/checklist.ts'
import { fitted } from '../terminal/fitting.ts'
import type { Screen } from '../terminal/screen.ts'
import type { Crew } from './crew.ts'
import { newsBetween, requestNews } from './news.ts'
import { orderPageLines } from './order-page.ts'
import { type Reader, untilSeen } from './reader.ts'
import type { Lookout, Sight, WorkerSight } from './sight.ts'

/** What a scene of the tour plays with. */
export interface Props {
  readonly screen: Screen
  readonly reader: Reader
  readonly crew: Crew
  readonly lookout: Lookout
  /** Of this process, which does not work. */
  readonly engine: Engine
  readonly workflow: FulfilOrder
  readonly database: Database
  readonly leaseMs: number
  /** How long the reader may look at a page before the next one comes by itself. */
  readonly pageMs: number
  readonly sql: boolean
}

/** An order, from its start to its end. */
export interface Scene {
  readonly title: string
  readonly order: Order
  readonly isUndone: boolean
  /** The worker that may be killed now. */
  readonly victim: (sight: Sight) => WorkerSight | undefined
  /** If nobody presses k: how long after it may be killed it is killed. Undefined: it lives on. */
  readonly killAfterMs: number | undefined
  readonly check: (checklist: Checklist, run: RunSnapshot) => Promise<void>
}

const LOOK_EVERY_MS = 100

/** Plays a scene. Returns whether every promise was kept. */
export async function play(scene: Scene, props: Props): Promise<boolean> {
  const { engine, workflow, screen, reader } = props
  const run = await engine.run(workflow, scene.order, { key: scene.order.id })
  const showing = new SceneShowing(scene, props)
  const sight = await showing.follow(run)
  const checklist = new Checklist({ colours: screen.colours, print: (...lines) => showing.add(lines) })
  await scene.check(checklist, sight.run)
  if (!screen.live) screen.print('', ...showing.checks)
  await untilSeen(props, (footer) => showing.draw(sight, footer))
  if (props.sql) await showSqlPage(props, sight.run)
  // A key that was pressed here must not kill anybody in the next scene.
  reader.keys()
  return checklist.allKept
}

async function showSqlPage(props: Props, run: RunSnapshot): Promise<void> {
  const { screen, database } = props
  const rows = await readSqlRows(database, STEP_ROWS_SQL, run.id)
  const { colours } = screen
  const lines = (columns: number) => [
    colours.bold('The steps as the database has them, at any SQL prompt:'),
    '',
    ...sqlLines(STEP_ROWS_SQL, rows, { columns, colours }),
  ]
  if (!screen.live) return screen.print('', ...lines(screen.size.columns))
  screen.turnPage()
  await untilSeen(props, (footer) =>
    screen.drawPage((size) => fitted([...lines(size.columns), '', footer], size)),
  )
}

class SceneShowing {
  readonly checks: string[] = []
  readonly #scene: Scene
  readonly #props: Props
  readonly #news: string[] = []
  readonly #beganAtMs = performance.now()
  #killAtMs: number | undefined
  #frame = 0

  constructor(scene: Scene, props: Props) {
    this.#scene = scene
    this.#props = props
    props.screen.turnPage()
    if (!props.screen.live) props.screen.heading(scene.title)
  }

  add(lines: readonly string[]): void {
    this.checks.push(...lines)
  }

  /** Shows a run until it ends. */
  async follow(run: RunHandle<unknown>): Promise<Sight> {
    const { lookout, crew, workflow, reader } = this.#props
    const { order } = this.#scene
    if (!run.created) this.#tell(`An earlier start began ${order.id}. It goes on from there.`)
    let before: Sight | undefined
    for (;;) {
      const sight = await Promise.race([crew.broken, lookout.look(run, workflow, order.id)])
      for (const news of newsBetween(before, sight)) this.#tell(news)
      for (const request of sight.requests.slice(before?.requests.length ?? 0)) this.#log(request)
      const footer = this.#killOrWarn(sight)
      if (sight.run.finishedAt !== undefined) return sight
      this.draw(sight, footer)
      before = sight
      await reader.pause(LOOK_EVERY_MS)
    }
  }

  draw(sight: Sight, footer: string): void {
    const { screen, leaseMs } = this.#props
    const { title, isUndone } = this.#scene
    const undone = isUndone && sight.view.status !== 'running' ? undoOrderOf(sight.run) : undefined
    const page = { title, sight, undone, news: this.#news, checks: this.checks, footer }
    this.#frame += 1
    const look = { colours: screen.colours, frame: this.#frame, leaseMs }
    screen.drawPage((size) => orderPageLines(page, look, size))
  }

  #tell(news: string): void {
    this.#news.push(news)
    this.#printLine(news)
  }

  /** A page has a place of its own for it. */
  #log(request: CardRequest): void {
    this.#printLine(`card network: ${requestNews(request)}`)
  }

  /** Without a terminal. */
  #printLine(news: string): void {
    const { screen } = this.#props
    const seconds = ((performance.now() - this.#beganAtMs) / 1_000).toFixed(2)
    if (!screen.live) screen.print(`  ${seconds.padStart(6)} s  ${news}`)
  }

  /** Kills the worker whose time has come. Otherwise returns the line that says how to kill it. */
  #killOrWarn(sight: Sight): string {
    const { reader, crew, screen } = this.#props
    const { bold, yellow } = screen.colours
    const quit = reader.hasKeyboard ? `${bold('q')} quit` : ''
    const keys = reader.keys()
    const victim = this.#scene.victim(sight)
    if (victim === undefined) return quit
    this.#killAtMs ??= performance.now() + (this.#scene.killAfterMs ?? Number.POSITIVE_INFINITY)
    const leftMs = this.#killAtMs - performance.now()
    if (keys.includes('k') || leftMs <= 0) {
      crew.kill(victim.name)
      this.#tellOfKill(victim)
      return quit
    }
    const soon = Number.isFinite(leftMs) ? ` (by itself in ${Math.ceil(leftMs / 1_000)} s)` : ''
    return reader.hasKeyboard
      ? `${bold(yellow(`k kill -9 ${victim.name}`))}${soon}   ${quit}`
      : `kill -9 ${victim.name}${soon}`
  }

  #tellOfKill({ name, pid, holds, leaseMs = 0 }: WorkerSight): void {
    const lease = `lease, ${this.#props.leaseMs / 1_000} s here and 30 s by default, ends in ${(leaseMs / 1_000).toFixed(1)} s`
    this.#tell(`kill -9 ${pid}: ${name} is dead and holds ${holds.join(', ')}. Its ${lease}`)
  }
}
