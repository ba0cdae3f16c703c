import { PlainLines } from './plain-lines.ts'
import type { Happening, RunView } from './run-view.ts'

const ITEM = /\[.+\]$/

/** Prints what happens to the steps, and not what happens to each item of a map. */
export class LinesWithoutItems extends PlainLines {
  override show(view: RunView, happening: Happening): void {
    const { name, event } = happening
    // This event names an item's map, once for each item.
    if (name === 'step.recovered') return
    if (!('step' in event && ITEM.test(event.step ?? ''))) super.show(view, happening)
  }
}
