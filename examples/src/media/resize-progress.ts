import type { RunHandle } from '@belay/workflow'
import { widthOf, wrapped } from '../terminal/fitting.ts'
import type { Screen } from '../terminal/screen.ts'

const BAR_CELLS = 32
const BAR_MIN_CELLS = 8
/** Without a terminal, a line is printed each time so many more items have ended. */
const LINE_ITEMS = 8

const ITEM = /^resize\[.+\]$/

/** Draws one line for all items of the map. Any process could: what it shows is read from the store. */
export async function followItems(screen: Screen, run: RunHandle<unknown>): Promise<void> {
  const progress = new ItemProgress(screen)
  for await (const change of run.watch()) {
    if (change.type === 'run') progress.turn(change.status)
    // Nobody told this progress: a map has one of its own.
    else if (change.type === 'progress' && change.step === 'resize') progress.advance(change)
    else if (change.type === 'step' && ITEM.test(change.step) && change.status === 'compensated')
      progress.undo()
  }
  progress.end()
}

class ItemProgress {
  #status = 'running'
  #done = 0
  #total = 0
  #undone = 0
  #printed = 0
  readonly #screen: Screen

  constructor(screen: Screen) {
    this.#screen = screen
  }

  turn(status: string): void {
    this.#status = status
    this.#draw()
  }

  advance({ done, total = 0 }: { readonly done: number; readonly total?: number | undefined }): void {
    this.#done = done
    this.#total = total
    this.#draw()
    if (this.#screen.live || done < this.#printed + LINE_ITEMS) return
    this.#printed = done
    this.#screen.print(`  resize: ${done} of ${total} pictures`)
  }

  undo(): void {
    this.#undone += 1
    this.#draw()
  }

  end(): void {
    if (this.#undone > 0 && !this.#screen.live) {
      this.#screen.print(`  resize: ${this.#undone} pictures removed again`)
    }
    this.#screen.keep()
  }

  #draw(): void {
    const { green, yellow, dim } = this.#screen.colours
    const isUndone = this.#undone > 0
    const paint = isUndone ? yellow : green
    const pictures = isUndone
      ? `${this.#undone} pictures removed again`
      : `${this.#done} of ${this.#total} pictures`
    const rest = `${pictures}  run ${this.#status}`
    this.#screen.draw(({ columns }) => {
      const cells = Math.max(BAR_MIN_CELLS, Math.min(BAR_CELLS, columns - widthOf(rest) - 4))
      return wrapped(`  ${paint(this.#bar(cells))}  ${pictures}  ${dim(`run ${this.#status}`)}`, columns)
    })
  }

  #bar(length: number): string {
    const cells = (items: number) => Math.round((length * items) / Math.max(1, this.#total))
    return '↩'.repeat(cells(this.#undone)).padEnd(cells(this.#done), '█').padEnd(length, '·')
  }
}
