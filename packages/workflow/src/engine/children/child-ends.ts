import pLimit from 'p-limit'
import type { Adapter, RunEnd } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import type { Control } from '../control/control.ts'
import { byParent, type FamilyParts, ignoreEnded, liveChildren } from '../control/family.ts'

export interface ChildEndsParts extends FamilyParts {
  readonly adapter: Adapter
  readonly control: Pick<Control, 'act'>
  readonly runtime: Runtime
  readonly log: Logger
  /** Steps of this definition became ready. */
  readonly onWoken: (definitionId: number) => void
}

/** Of how many ended runs the children are looked for at a time. */
const AT_ONCE = 5

/** An attempt that looks at a child is short: it is usually over before the next try. */
const BUSY_WAITS_MS = [5, 20, 80]

/** Remembers this many runs whose children were cancelled. */
const STOPPED_MAX = 1_000

/** What follows for a family when one of its runs ends or is stopped. */
export class ChildEnds {
  readonly #parts: ChildEndsParts
  readonly #stopped = new Set<string>()

  constructor(parts: ChildEndsParts) {
    this.#parts = parts
  }

  /**
   * Wakes the steps that wait for these ends, forward or in their undo, and cancels children that outlive their parents. Harmless when repeated.
   * Returns the ends that must be told again: an attempt of such a step is under way, which may have looked at its child too early.
   */
  async follow(ends: readonly RunEnd[]): Promise<readonly RunEnd[]> {
    // A cancellation without an undo leaves nobody who would cancel them.
    const failed = ends.filter(({ status }) => status !== 'completed')
    await pLimit(AT_ONCE).map(failed, ({ runId }) => this.#cancelChildren(runId))
    let untold = await this.#wake(ends.filter(({ parent }) => parent !== null && parent.step !== null))
    for (const waitMs of BUSY_WAITS_MS) {
      if (untold.length === 0) break
      await pause(this.#parts.runtime.clock, waitMs)
      untold = await this.#wake(untold)
    }
    return untold
  }

  /** All of them in one call: the children of a fan end together. Returns those whose parents were busy. */
  async #wake(ends: readonly RunEnd[]): Promise<readonly RunEnd[]> {
    if (ends.length === 0) return ends
    const answers = await this.#parts.adapter.wakeParents(ends.map(({ runId }) => runId))
    const definitionIds = answers.flatMap((woken) => (woken.result === 'woken' ? [woken.definitionId] : []))
    for (const definitionId of new Set(definitionIds)) this.#parts.onWoken(definitionId)
    return ends.filter((_, index) => answers[index]!.result === 'busy')
  }

  /**
   * These runs were stopped: their children are cancelled at once. If this process dies meanwhile, the undo of the steps that started them does it.
   */
  stopped(runIds: readonly string[]): void {
    for (const runId of runIds) {
      if (this.#stopped.has(runId)) continue
      if (this.#stopped.size === STOPPED_MAX) this.#stopped.clear()
      this.#stopped.add(runId)
      this.#cancelChildren(runId).catch((error: unknown) => {
        this.#stopped.delete(runId)
        this.#parts.log.warn('The children of a stopped run were not cancelled yet; its undo cancels them.', {
          runId,
          error,
        })
      })
    }
  }

  async #cancelChildren(runId: string): Promise<void> {
    const { adapter, control } = this.#parts
    const children = await liveChildren(this.#parts, runId)
    if (children.length === 0) return
    const found = await adapter.changeRun({
      runId,
      decide: ({ run }) => ({ change: null, answer: { stop: run.stop } }),
    })
    // It was sent forward again meanwhile.
    if (found === null || found.stop === null) return
    const by = byParent(runId, `its parent, run ${runId}, was stopped`)
    const compensate = found.stop !== 'abandonment'
    for (const child of children) {
      // One that has passed its pivot only goes forward.
      await control.act(child.runId, { type: 'cancel', compensate }, by).catch(ignoreEnded)
    }
  }
}
