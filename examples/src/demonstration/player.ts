import {
  type Engine,
  RunFailedError,
  type RunHandle,
  type RunSnapshot,
  type WorkflowDefinition,
} from '@belay/workflow'
import { LiveGraph } from '../terminal/live-graph.ts'
import { plainLine } from '../terminal/plain-lines.ts'
import { type Happening, type RunView, viewAfter, viewOf, viewRefreshed } from '../terminal/run-view.ts'
import type { Screen } from '../terminal/screen.ts'
import { Journal } from './journal.ts'

/** Shows a run while it runs. */
export interface RunDisplay {
  show(view: RunView): void
  end(view: RunView): void
}

export type OpenDisplay = (screen: Screen, view: RunView) => RunDisplay

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

  /** Follows a run to its end and returns how it ended. `display` replaces the live graph on a terminal. */
  async follow(
    run: RunHandle<unknown>,
    workflow: WorkflowDefinition,
    display: OpenDisplay = (screen, view) => new LiveGraph(screen, view),
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
    const display = this.#screen.live ? first.display(this.#screen, view) : undefined
    const stopReading = this.#journal.read(run.id, (happening) => {
      view = viewAfter(view, happening)
      if (display === undefined) this.#printLine(happening)
      else display.show(view)
    })
    try {
      await endOf(run)
      view = viewRefreshed(view, viewOf(workflow, await run.status()))
    } finally {
      stopReading()
      display?.end(view)
    }
  }

  #printLine(happening: Happening): void {
    const line = plainLine(happening)
    if (line !== undefined) this.#screen.print(line)
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

function list(steps: RunSnapshot['steps']): string {
  return steps.length === 0 ? 'nothing' : steps.map(({ name }) => name).join(', ')
}
