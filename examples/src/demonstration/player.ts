import {
  type Engine,
  RunFailedError,
  type RunHandle,
  type RunSnapshot,
  type WorkflowDefinition,
} from '@belay/workflow'
import { LiveGraph } from '../terminal/live-graph.ts'
import { PlainLines } from '../terminal/plain-lines.ts'
import { type Happening, type RunView, viewAfter, viewOf, viewRefreshed } from '../terminal/run-view.ts'
import type { Screen } from '../terminal/screen.ts'
import { Journal } from './journal.ts'

/** Shows a run while it runs. */
export interface RunDisplay {
  /** An event, and the run after it. */
  show(view: RunView, happening: Happening): void
  end(view: RunView): void
}

export type OpenDisplay = (screen: Screen, view: RunView) => RunDisplay

const liveOrPlain: OpenDisplay = (screen, view) =>
  screen.live ? new LiveGraph(screen, view) : new PlainLines(screen)

/** Shows runs until they end: new ones, and those that an earlier process left unfinished. */
export class Player {
  readonly #engine: Engine
  readonly #screen: Screen
  readonly #journal: Journal

  constructor(engine: Engine, screen: Screen) {
    this.#engine = engine
    this.#screen = screen
    this.#journal = new Journal(engine)
  }

  /** Follows a run to its end and returns how it ended. `display` replaces the live graph, or the lines without a terminal. */
  async follow(
    run: RunHandle<unknown>,
    workflow: WorkflowDefinition,
    display: OpenDisplay = liveOrPlain,
  ): Promise<RunSnapshot> {
    const found = await run.status()
    if (!run.created) this.#announceEarlierRun(found)
    // Not earlier: a working engine could already have changed what the reader was just shown.
    if (found.finishedAt === undefined) await this.#engine.start()
    await this.#show(run, workflow, { view: viewOf(workflow, found), display })
    return run.status()
  }

  async #show(
    run: RunHandle<unknown>,
    workflow: WorkflowDefinition,
    first: { readonly view: RunView; readonly display: OpenDisplay },
  ): Promise<void> {
    let { view } = first
    const display = first.display(this.#screen, view)
    const stopReading = this.#journal.read(run.id, (happening) => {
      view = viewAfter(view, happening)
      display.show(view, happening)
    })
    try {
      await endOf(run)
      view = viewRefreshed(view, viewOf(workflow, await run.status()))
    } finally {
      stopReading()
      display.end(view)
    }
  }

  #announceEarlierRun({ key, status, steps, finishedAt }: RunSnapshot): void {
    if (finishedAt !== undefined) {
      this.#screen.print(`  An earlier start already finished ${key}: ${status}. It is not run again.`)
      return
    }
    const done = steps.filter((step) => step.status === 'completed' || step.status === 'compensated')
    const inFlight = steps.filter(
      (step) => step.status === 'running' || (step.status === 'compensating' && step.workerId !== undefined),
    )
    this.#screen.print(
      `  Resuming ${key}, which an earlier start left ${status}.`,
      `  Already done, and not run again: ${list(done)}.`,
      `  In flight when that start ended, and run again: ${list(inFlight)}.`,
    )
  }
}

async function endOf(run: RunHandle<unknown>): Promise<void> {
  try {
    await run.result()
  } catch (error) {
    // Some demonstrations want to see a run that failed and was undone.
    if (!RunFailedError.is(error)) throw error
  }
}

/** Names of steps; of a map's items their number. */
function list(steps: RunSnapshot['steps']): string {
  const items = new Map<string, number>()
  for (const { name, itemKey } of steps) {
    const map = name.slice(0, name.indexOf('['))
    if (itemKey !== undefined) items.set(map, (items.get(map) ?? 0) + 1)
  }
  const named = steps.filter(({ itemKey }) => itemKey === undefined).map(({ name }) => name)
  const counted = [...items].map(([map, count]) => `${count} items of ${map}`)
  return [...named, ...counted].join(', ') || 'nothing'
}
