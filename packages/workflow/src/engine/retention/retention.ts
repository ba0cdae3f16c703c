import { type Adapter, ENDS, type EndStatus } from '../../adapter/index.ts'
import type { Logger } from '../../logger.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import type { EventHub } from '../base/events.ts'
import { Loop } from '../base/loop.ts'
import { isUnavailable } from '../base/outage.ts'
import { pause, type Runtime, within } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import { archiveApart } from './archive-apart.ts'
import { walkEnded } from './ended-runs.ts'
import { pruneBatch } from './prune.ts'
import { releaseApart } from './release-keys.ts'
import type { RetentionSettings } from './retention-policy.ts'

/** The pause between two batches: pruning a backlog of millions must cause little load. */
const REST_MS = 50
/** How often a walk starts from the beginning, for runs that were skipped because they were being changed. */
const FROM_THE_BEGINNING_MS = 86_400_000
/** How long a stopping worker waits for the current batch. */
const STOP_MS = 5_000

interface RetentionParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly log: Logger
  readonly events: EventHub
  readonly registry: Pick<DefinitionRegistry, 'marked'>
  readonly settings: RetentionSettings
  readonly aside: SetAside
}

/** One duration of the policy, with its progress. */
interface Rule {
  readonly statuses: readonly EndStatus[]
  readonly keptMs: number
  readonly keyed: boolean
  readonly act: (runIds: readonly string[], finishedBefore: number) => Promise<number>
  /** The position of the last walk: runs before it need not be read again, so a long history costs nothing. */
  cursor: string | null
}

/** Applies the retention policy in its own loop: claims and renewals never wait for it. */
export class Retention {
  readonly #parts: RetentionParts
  readonly #rules: readonly Rule[]
  readonly #loop: Loop
  #beganAt = Number.NEGATIVE_INFINITY
  #stopped = false

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.#rules = rulesOf(parts)
    this.#loop = new Loop({
      clock: parts.runtime.clock,
      intervalMs: parts.settings.everyMs,
      work: () => this.#round(),
      onError: (error) => this.#failed(error),
    })
  }

  start(): void {
    this.#loop.wake()
  }

  /** Stops after the current batch. Waits for it at most {@link STOP_MS}. */
  async stop(): Promise<void> {
    this.#stopped = true
    await within(this.#parts.runtime.clock, STOP_MS, this.#loop.stop())
  }

  async #round(): Promise<void> {
    this.#goBackNowAndThen()
    const failures: unknown[] = []
    for (const rule of this.#rules) {
      if (this.#stopped) return
      // An archive that refuses some runs does not keep others from being pruned, or keys from being released.
      await this.#apply(rule).catch((error: unknown) => {
        if (isUnavailable(error)) throw error
        failures.push(error)
      })
    }
    if (failures.length > 0) throw failures[0]
  }

  async #apply(rule: Rule): Promise<void> {
    const { adapter, runtime, settings } = this.#parts
    const finishedBefore = (await adapter.now()) - rule.keptMs
    const walked = await walkEnded({
      adapter,
      request: { finishedBefore, statuses: rule.statuses, keyed: rule.keyed },
      after: rule.cursor,
      batchMax: settings.batch,
      limit: Number.POSITIVE_INFINITY,
      act: (runIds) => rule.act(runIds, finishedBefore),
      stopped: () => this.#stopped,
      rest: () => pause(runtime.clock, REST_MS),
    })
    rule.cursor = walked.cursor
  }

  #goBackNowAndThen(): void {
    const now = this.#parts.runtime.clock.now()
    if (now - this.#beganAt < FROM_THE_BEGINNING_MS) return
    this.#beganAt = now
    for (const rule of this.#rules) rule.cursor = null
  }

  #failed(error: unknown): number {
    const { log, events, settings } = this.#parts
    // The other loops report an outage.
    if (!this.#stopped && !isUnavailable(error)) {
      log.error('Pruning failed; the next round tries again.', { error })
      events.emit('error', { during: 'pruning', error })
    }
    return settings.everyMs
  }
}

function rulesOf({ adapter, events, registry, runtime, settings, aside }: RetentionParts): readonly Rule[] {
  const { archive: given } = settings
  const naming = (during: string) => (runId: string, error: unknown) =>
    void aside.refused({ during, runId }, error)
  const onRefused = naming('pruning')
  const rules = settings.ends.map(({ status, keptMs }): Rule => {
    const archive = given && archiveApart(given, runtime)
    return {
      statuses: [status],
      keptMs,
      keyed: false,
      act: (runIds, finishedBefore) =>
        pruneBatch(
          { adapter, events, registry, onRefused },
          { runIds, finishedBefore, statuses: [status], archive },
        ),
      cursor: null,
    }
  })
  if (settings.keysKeptMs === undefined) return rules
  const releasing: Rule = {
    statuses: ENDS,
    keptMs: settings.keysKeptMs,
    keyed: true,
    act: async (runIds, finishedBefore) => {
      const released = await releaseApart(adapter, { runIds, finishedBefore }, naming('releasing the key'))
      if (released > 0) events.emit('runs.keys_released', { released })
      return released
    },
    cursor: null,
  }
  return [...rules, releasing]
}
