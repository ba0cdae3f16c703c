import {
  type ChangedRun,
  type DefinitionRecord,
  isTerminal,
  type RecoveredStep,
  templateOf,
} from '../../adapter/index.ts'
import { mapNameOf } from '../../definition/map-draft.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { type EngineEvents, type EventHub, RUN_EVENTS, type RunEvent } from '../base/events.ts'
import { idempotencyKey } from '../base/idempotency-key.ts'
import { kindOf } from '../base/workflow-steps.ts'

/** Reports runs and steps to listeners by name, never by number, also when this process does not have their definition. */
export class RunReports {
  readonly #events: EventHub
  readonly #registry: DefinitionRegistry

  constructor(parts: { readonly events: EventHub; readonly registry: DefinitionRegistry }) {
    this.#events = parts.events
    this.#registry = parts.registry
  }

  /** The statuses of these runs have changed. */
  changed(runs: readonly ChangedRun[]): void {
    if (!RUN_EVENTS.some((name) => this.#events.has(name))) return
    this.#named(runs, (run, definition) => this.#emit(run.status, runEvent(run, definition)))
  }

  /** These steps were taken back from workers that died. */
  recovered(steps: readonly RecoveredStep[]): void {
    if (!this.#events.has('step.recovered')) return
    this.#named(steps, (recovered, { name: workflow, version, shape }) => {
      const { runId, direction, attempt, losses, itemKey, startedAt } = recovered
      const { name } = shape.steps[templateOf(recovered.step)]!
      const step = itemKey === null ? name : `${mapNameOf(name)}[${itemKey}]`
      this.#events.emit('step.recovered', {
        ...{ runId, workflow, version, step, direction, attempt, losses },
        kind: kindOf(shape.steps, recovered.step),
        idempotencyKey: idempotencyKey(recovered, step),
        startedAt: startedAt === null ? undefined : new Date(startedAt),
      })
    })
  }

  /** Reports items of known definitions at once, the others after reading their definitions from the store. */
  #named<Item extends { readonly definitionId: number }>(
    items: readonly Item[],
    report: (item: Item, definition: DefinitionRecord) => void,
  ): void {
    const unresolved: Item[] = []
    for (const item of items) {
      const definition = this.#registry.recordOf(item.definitionId)
      if (definition === undefined) unresolved.push(item)
      else report(item, definition)
    }
    if (unresolved.length > 0) void this.#reportLater(unresolved, report)
  }

  async #reportLater<Item extends { readonly definitionId: number }>(
    items: readonly Item[],
    report: (item: Item, definition: DefinitionRecord) => void,
  ): Promise<void> {
    try {
      await this.#registry.learn(items.map(({ definitionId }) => definitionId))
    } catch (error) {
      this.#events.emit('error', {
        during: 'reporting runs whose definitions this engine does not have',
        error,
      })
    }
    for (const item of items) {
      const definition = this.#registry.recordOf(item.definitionId)
      if (definition !== undefined) report(item, definition)
    }
  }

  /** Not every status has an event. */
  #emit(status: ChangedRun['status'], event: RunEvent): void {
    switch (status) {
      case 'completed':
      case 'compensating':
      case 'failed':
      case 'compensated':
      case 'cancelled':
      case 'compensation_failed':
      case 'paused':
      case 'parked':
        this.#events.emit(`run.${status}`, event)
        break
      case 'running':
        this.#events.emit('run.resumed', event)
    }
    if (isTerminal(status)) this.#events.emit('run.ended', event satisfies EngineEvents['run.ended'])
  }
}

function runEvent(run: ChangedRun, { name: workflow, version }: DefinitionRecord): RunEvent {
  const { runId, status, key, tags, durationMs } = run
  return { runId, workflow, version, key: key ?? undefined, tags, status, durationMs }
}
