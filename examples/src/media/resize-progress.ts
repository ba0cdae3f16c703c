import type { RunHandle } from '@belay/workflow'
import { PlainLines } from '../terminal/plain-lines.ts'
import type { Happening, RunView } from '../terminal/run-view.ts'
import type { Screen } from '../terminal/screen.ts'

const BAR_CELLS = 32
/** Without a terminal, a line is printed each time so many more items have ended. */
const LINE_ITEMS = 8

const ITEM = /^resize\[.+\]$/

/** One line for all items of a map. Any process could draw it: what it shows is read from the store. */
export async function followItems(screen: Screen, run: RunHandle<unknown>): Promise<void> {
  const progress = new ItemProgress(screen)
  for await (const change of run.watch()) {
    if (change.type === 'run') progress.turn(change.status)
    // The step before the items decides them, and its output is their number.
    else if (change.type === 'step' && change.step === 'resize[]') progress.total = Number(change.output ?? 0)
    else if (change.type === 'step' && ITEM.test(change.step)) progress.set(change.step, change.status)
  }
  progress.end()
}

class ItemProgress {
  total = 0
  #status = 'running'
  #toldItems = 0
  readonly #screen: Screen
  readonly #statuses = new Map<string, string>()

  constructor(screen: Screen) {
    this.#screen = screen
  }

  turn(status: string): void {
    this.#status = status
    this.#draw()
  }

  set(item: string, status: string): void {
    this.#statuses.set(item, status)
    this.#draw()
    const done = this.#count('completed')
    if (this.#screen.live || done < this.#toldItems + LINE_ITEMS) return
    this.#toldItems = done
    this.#screen.print(`  resize: ${done} of ${this.total} pictures`)
  }

  end(): void {
    const undone = this.#count('compensated')
    if (!this.#screen.live && undone > 0) this.#screen.print(`  resize: ${undone} pictures removed again`)
    this.#screen.keep()
  }

  #draw(): void {
    const [done, undone] = [this.#count('completed'), this.#count('compensated')]
    const cells = (items: number) => Math.round((BAR_CELLS * items) / Math.max(1, this.total))
    const bar = `${'█'.repeat(cells(done))}${'↩'.repeat(cells(undone))}`.padEnd(BAR_CELLS, '·')
    const { green, yellow, dim } = this.#screen.colours
    const paint = undone > 0 ? yellow : green
    const pictures = undone > 0 ? `${undone} removed again` : `${done} of ${this.total} pictures`
    this.#screen.draw([`  ${paint(bar)}  ${pictures}  ${dim(`run ${this.#status}`)}`])
  }

  #count(status: string): number {
    return [...this.#statuses.values()].filter((each) => each === status).length
  }
}

/** Prints what happens to the steps. Of the items there is one line for all. */
export class LinesWithoutItems extends PlainLines {
  override show(view: RunView, happening: Happening): void {
    const { event } = happening
    if (!('step' in event && ITEM.test(event.step ?? ''))) super.show(view, happening)
  }
}
