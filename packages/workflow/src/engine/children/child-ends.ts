import pLimit from 'p-limit'
import type { Adapter, RunEnd } from '../../adapter/index.ts'
import { BelayError, StoreContendedError } from '../../errors.ts'
import type { Logger } from '../../logger.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import type { Control } from '../control/control.ts'
import { type FamilyParts, liveChildren } from '../control/family.ts'
import { type WokenParent, wakeParent } from '../control/wake-parent.ts'

export interface ChildEndsParts extends FamilyParts {
  readonly adapter: Adapter
  readonly control: Pick<Control, 'act'>
  readonly runtime: Runtime
  readonly log: Logger
  /** Steps of this definition became ready. */
  readonly onWoken: (definitionId: number) => void
}

/** How many ends are followed at a time. */
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
   *
   * @throws StoreContendedError if an attempt of such a step is under way, which may have looked at its child too early.
   */
  async follow(ends: readonly RunEnd[]): Promise<void> {
    await pLimit(AT_ONCE).map(ends, async ({ runId, status, parent }) => {
      // A cancellation without an undo leaves nobody who would cancel them.
      if (status !== 'completed') await this.#cancelChildren(runId)
      if (parent !== null && parent.step !== null) await this.#wake(parent.runId, parent.step)
    })
  }

  async #wake(runId: string, step: number): Promise<void> {
    const { adapter, runtime, onWoken } = this.#parts
    for (const waitMs of BUSY_WAITS_MS) {
      const woken: WokenParent | null = await adapter.changeRun({
        runId,
        decide: (found) => wakeParent(found, step),
      })
      if (woken?.result === 'woken') onWoken(woken.definitionId)
      if (woken?.result !== 'busy') return
      await pause(runtime.clock, waitMs)
    }
    throw new StoreContendedError(
      `Step ${step} of run ${runId} is looking at its child. Its end is told again.`,
      { runId },
    )
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
    const by = { actor: `run ${runId}`, reason: `its parent, run ${runId}, was stopped` }
    const compensate = found.stop !== 'abandonment'
    for (const child of children) {
      // One that has passed its pivot only goes forward.
      await control.act(child.runId, { type: 'cancel', compensate }, by).catch(ignoreRefusal)
    }
  }
}

function ignoreRefusal(error: unknown): void {
  if (!BelayError.is(error) || (error.code !== 'action_refused' && error.code !== 'unknown_run')) throw error
}
