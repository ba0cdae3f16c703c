import type { SkipReason } from '../../adapter/branch.ts'
import {
  isItem,
  itemNumber,
  type JsonText,
  type PayloadRequest,
  type RunPayloads,
  type StepPayloads,
  skipText,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { hasEnded, outcomeOf } from '../../machine/outcomes.ts'
import type { Unit } from '../../machine/state.ts'
import type { Owned } from '../../owner/index.ts'
import type { Payloads, Store } from '../../store/index.ts'
import { branchesOf, type ForwardPayloads, outputsOf, type PayloadSource } from '../base/payload-cache.ts'
import { settledText } from '../base/settled-text.ts'
import { itemOf } from './claim-of.ts'
import { unitOf } from './numbers.ts'

export interface PayloadsParts {
  readonly store: Pick<Store, 'payloads'>
  /** Runs that this process owns. */
  readonly runOf: (id: string) => Owned | undefined
  readonly definitionOf: (owned: Owned) => WorkflowDefinition
  readonly causeOf: (owned: Owned) => JsonText
  /** The store’s clock, in epoch milliseconds. */
  readonly now: () => number
}

interface Pending {
  readonly run: string
  readonly no: number
  readonly resolve: (found: Payloads | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The payloads of runs that this process owns: from their memory, or read. */
export class OwnedPayloads implements PayloadSource {
  readonly #parts: PayloadsParts
  #pending: Pending[] = []

  constructor(parts: PayloadsParts) {
    this.#parts = parts
  }

  known(
    runId: string,
    steps: readonly number[],
    branches: readonly number[] = [],
  ): ForwardPayloads | undefined {
    const owned = this.#parts.runOf(runId)
    if (owned === undefined) return undefined
    const definition = this.#parts.definitionOf(owned)
    const outputs: JsonText[] = []
    for (const step of steps) {
      const output = knownOutput(owned, definition, step)
      if (output === undefined) return undefined
      outputs.push(output)
    }
    if (branches.length === 0) return { input: owned.input, outputs }
    return {
      input: owned.input,
      outputs,
      branches: new Map(branches.map((step) => [step, branchAt(owned, definition, step)])),
    }
  }

  async read(
    runId: string,
    steps: readonly number[],
    { branches, settled = null }: Parameters<PayloadSource['read']>[2] = {},
  ): Promise<ForwardPayloads | undefined> {
    const read = await this.load({ runId, steps: [...steps, ...(branches ?? [])], branches: true })
    if (read === undefined) return undefined
    const byStep = outputsOf(read, settled)
    return {
      input: read.input,
      outputs: steps.map((step) => byStep.get(step) ?? null),
      branches: branchesOf(read),
    }
  }

  async load({ runId, steps, outputsOf: maps = [] }: PayloadRequest): Promise<RunPayloads | undefined> {
    const { runOf, definitionOf, causeOf, now } = this.#parts
    const owned = runOf(runId)
    if (owned === undefined) return undefined
    const definition = definitionOf(owned)
    const found = await Promise.all(steps.map((step) => this.#stepOf(owned, definition, step)))
    const joined = await Promise.all(
      maps.map(async (map) => ({ map, outputs: await this.#outputsOfItems(owned, definition, map) })),
    )
    return {
      ...{ runId, input: owned.input, cause: causeOf(owned), now: now(), heartbeats: [], outputsOf: joined },
      steps: found.filter((step) => step !== undefined),
    }
  }

  /** Nothing is kept beside the run’s own memory. */
  rememberCause(): void {}

  knownCause(runId: string): JsonText | undefined {
    const owned = this.#parts.runOf(runId)
    return owned === undefined ? undefined : this.#parts.causeOf(owned)
  }

  async #stepOf(
    owned: Owned,
    definition: WorkflowDefinition,
    step: number,
  ): Promise<StepPayloads | undefined> {
    const unit = unitOf(owned.run, definition, step)
    if (unit === undefined) return undefined
    const known = outputInMemory(owned, unit)
    const item = isItem(step) ? itemOf({ owned, unit }) : undefined
    const hasError = outcomeOf(unit) === 'failed' || unit.tries.failures > 0 || unit.succeeded
    const isRead = known === undefined || hasError || (isItem(step) && item === undefined)
    const read = isRead ? await this.#read(owned.id, unit.no) : undefined
    const isOpener = unit.units !== null && !isItem(step)
    const output = known === undefined ? (read?.output ?? null) : known
    return {
      ...stateOf(unit, step),
      output: isOpener && definition.steps[step]!.map?.part !== 'join' ? String(unit.units!.length) : output,
      error: read?.error ?? null,
      ...(isItem(step) ? { item: item ?? (await this.#itemOf(owned, unit, read)) } : {}),
    }
  }

  async #itemOf(
    owned: Owned,
    unit: Unit,
    read: Payloads | undefined,
  ): Promise<NonNullable<StepPayloads['item']>> {
    const { key, scope, label } = unit
    const isRound = scope!.kind.name === 'loop' && (key as number) > 0
    const before = isRound ? await this.#read(owned.id, scope!.units![(key as number) - 1]!.no) : undefined
    return { key: label ?? String(key), value: (isRound ? before?.output : read?.item) ?? null }
  }

  async #outputsOfItems(owned: Owned, definition: WorkflowDefinition, map: number): Promise<string> {
    const { units } = unitOf(owned.run, definition, map)!
    const outputs = await Promise.all(
      units!.map((_, index) => this.#stepOf(owned, definition, itemNumber(map, index))),
    )
    return `[${outputs.map((found) => found?.output ?? 'null').join(',')}]`
  }

  /** Reads of one moment share a call. */
  #read(run: string, no: number): Promise<Payloads | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#pending.length === 0) queueMicrotask(() => void this.#readAll())
      this.#pending.push({ run, no, resolve, reject })
    })
  }

  async #readAll(): Promise<void> {
    const pending = this.#pending
    this.#pending = []
    try {
      const found = await this.#parts.store.payloads(pending)
      const byUnit = new Map(found.map((each) => [`${each.run}:${each.no}`, each]))
      for (const { run, no, resolve } of pending) resolve(byUnit.get(`${run}:${no}`))
    } catch (error) {
      for (const { reject } of pending) reject(error)
    }
  }
}

/** Of a step past whose failure the run continues, the text of a `Settled`. */
function knownOutput(owned: Owned, definition: WorkflowDefinition, step: number): JsonText | undefined {
  const unit = unitOf(owned.run, definition, step)
  if (unit === undefined) return null
  const output = outputInMemory(owned, unit)
  if (output === undefined || definition.steps[step]?.onFailure !== 'continue') return output
  if (outcomeOf(unit) === 'failed') return undefined
  return settledText({ failed: false, branch: branchOf(unit), output, error: null })
}

/** Undefined: it must be read. */
function outputInMemory(owned: Owned, unit: Unit): JsonText | undefined {
  const output = owned.outputOf(unit.no)
  return output === undefined && !mayHaveOutput(unit) ? null : output
}

const mayHaveOutput = (unit: Unit): boolean =>
  hasEnded(unit) || unit.of !== null || unit.succeeded || unit.note?.['signal'] !== undefined

function branchAt(owned: Owned, definition: WorkflowDefinition, step: number): JsonText {
  const unit = unitOf(owned.run, definition, step)
  return unit === undefined ? null : branchOf(unit)
}

function branchOf(unit: Unit): JsonText {
  const why = outcomeOf(unit) === 'skipped' ? (unit.note?.skip as SkipReason | undefined) : undefined
  return why === undefined ? null : skipText(why)
}

function stateOf(unit: Unit, step: number): Omit<StepPayloads, 'output' | 'error'> {
  const { of, status, touched, succeeded, tries, phase, note } = unit
  // Its time is over, and its code says what follows.
  const isOver = phase === 'timeout'
  return {
    step,
    branch: branchOf(unit),
    failed: outcomeOf(unit) === 'failed',
    undoneStatus: (of ?? status) as StepPayloads['undoneStatus'],
    started: touched,
    availableAt: isOver ? 0 : null,
    waitingSince: isOver ? 0 : (note?.since ?? null),
    signalledAt: null,
    failingSince: tries.series,
    succeeded,
  }
}
