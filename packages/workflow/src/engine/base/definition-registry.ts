import {
  type Adapter,
  continuesPast,
  type DefinitionRecord,
  type FoundRun,
  type NewRun,
  type SavedDefinition,
  type StepShape,
  type WithinTransaction,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { diffShapes } from '../../graph/index.ts'
import type { Logger } from '../../logger.ts'
import { sharesFate } from './child-steps.ts'
import { saveDerived, withVersionOf } from './derived-definition.ts'

export interface DefinitionRegistryParts {
  readonly adapter: Adapter
  /** Whether a changed shape gets a version of its own. */
  readonly dev: boolean
  readonly log: Logger
}

/** Steps of a definition, by number. */
export interface MarkedSteps {
  /** Those past whose failure a run continues. */
  readonly mayFail: ReadonlySet<number>
  /** Those whose children share their fate. */
  readonly parents: ReadonlySet<number>
  /** All of them; empty if the store has no such definition. */
  readonly shapes: readonly StepShape[]
  /** What this process knows of their handlers and retries, if it has the definition. */
  readonly workflow: WorkflowDefinition | undefined
}

/**
 * Saves each definition once per process and keeps the store's number for it. A definition whose version is stored with another shape is refused; in
 * development mode it gets a version of its own.
 */
export class DefinitionRegistry {
  readonly #parts: DefinitionRegistryParts
  readonly #adapter: Adapter
  readonly #saved = new Map<string, SavedDefinition>()
  /** Definitions being saved, outside callers' transactions. */
  readonly #saving = new Map<string, Promise<SavedDefinition>>()
  /** This process's definitions by the store's number; the store confirmed their shapes. */
  readonly #known = new Map<number, WorkflowDefinition>()
  /** Other definitions, as the store has them. */
  readonly #learnt = new Map<number, DefinitionRecord>()
  readonly #marked = new Map<number, Omit<MarkedSteps, 'workflow'>>()

  /** Called when the store lacked a definition that this process had saved. */
  onLost: () => void = () => {}

  constructor(parts: DefinitionRegistryParts) {
    this.#parts = parts
    this.#adapter = parts.adapter
  }

  /** Saves definitions. Resolves to a map by the store's number, of definitions with the stored versions. Throws `definition_changed`. */
  async saveAll(workflows: readonly WorkflowDefinition[]): Promise<ReadonlyMap<number, WorkflowDefinition>> {
    if (workflows.length === 0) return new Map()
    const saved = await this.#adapter.saveDefinitions(workflows.map(({ record }) => record))
    const all = new Map<number, WorkflowDefinition>()
    for (const [index, workflow] of workflows.entries()) {
      const definition = await this.#ofShape(workflow, saved[index]!)
      this.#keep(workflow, cacheKey(workflow), definition)
      all.set(definition.id, this.#known.get(definition.id)!)
    }
    return all
  }

  /** Saves one definition unless this process has already saved it, within the caller's transaction `tx` if given. Throws `definition_changed`. */
  async save(workflow: WorkflowDefinition, tx?: unknown): Promise<SavedDefinition> {
    const key = cacheKey(workflow)
    const known = this.#saved.get(key)
    if (known !== undefined) return known
    if (tx !== undefined) return this.#saveOne(workflow, key, { tx })
    // Concurrent callers share one save. A caller in a transaction does not: the others might wait for its connection.
    const saving = this.#saving.get(key) ?? this.#saveOne(workflow, key)
    this.#saving.set(key, saving)
    try {
      return await saving
    } finally {
      this.#saving.delete(key)
    }
  }

  /** Saves a definition whatever this process has saved before: the store may have lost it. */
  async saveAgain(workflow: WorkflowDefinition, tx?: unknown): Promise<SavedDefinition> {
    return this.#saveOne(workflow, cacheKey(workflow), tx === undefined ? undefined : { tx })
  }

  /**
   * Sends new runs to the store. If the store lacks a definition of theirs that this process has saved, as after a failover that lost it, saves it again
   * and sends them once more.
   */
  async sending<New extends NewRun, Result>(
    runs: readonly New[],
    send: (runs: readonly New[]) => Promise<Result>,
    tx?: unknown,
  ): Promise<Result> {
    try {
      return await send(runs)
    } catch (error) {
      if (!BelayError.is(error) || error.code !== 'unknown_workflow') throw error
      const renumbered = new Map<number, number>()
      for (const id of new Set(runs.map((run) => run.definitionId))) {
        const workflow = this.#known.get(id)
        if (workflow !== undefined) renumbered.set(id, (await this.saveAgain(workflow, tx)).id)
      }
      if (renumbered.size === 0) throw error
      this.onLost()
      return send(
        runs.map((run) => ({ ...run, definitionId: renumbered.get(run.definitionId) ?? run.definitionId })),
      )
    }
  }

  async #saveOne(
    workflow: WorkflowDefinition,
    key: string,
    within?: WithinTransaction,
  ): Promise<SavedDefinition> {
    const [stored] = await this.#adapter.saveDefinitions([workflow.record], within)
    const saved = await this.#ofShape(workflow, stored!, within)
    // An uncommitted definition is not kept: a rollback removes it.
    if (!saved.uncommitted) this.#keep(workflow, key, saved)
    return saved
  }

  /** The stored definition if it has this shape; else, in development mode, one with a derived version. Throws `definition_changed`. */
  async #ofShape(
    workflow: WorkflowDefinition,
    stored: SavedDefinition,
    within?: WithinTransaction,
  ): Promise<SavedDefinition> {
    const { record } = workflow
    if (stored.checksum === record.checksum) return stored
    const derived = this.#parts.dev ? await saveDerived(this.#adapter, record, within) : null
    if (derived === null) throw changed(workflow, stored)
    const { name, version } = record
    this.#parts.log.info(
      `Workflow "${name}" version ${version} has another shape than the one that is stored. In development mode its new runs get version ${derived.version}; earlier runs keep theirs.\n${diffShapes(stored.shape, record.shape).join('\n')}`,
      { workflow: name, version, derivedVersion: derived.version },
    )
    return derived
  }

  #keep(workflow: WorkflowDefinition, key: string, saved: SavedDefinition): void {
    const before = this.#saved.get(key)
    // A number that the store does not have any more may come to mean another definition.
    if (before !== undefined && before.id !== saved.id) this.#known.delete(before.id)
    this.#saved.set(key, saved)
    const isDerived = saved.version !== workflow.version
    this.#known.set(saved.id, isDerived ? withVersionOf(workflow, saved) : workflow)
  }

  /** The definition with this number, if this process has it. */
  known(definitionId: number): WorkflowDefinition | undefined {
    return this.#known.get(definitionId)
  }

  /** The same definition in this process, if it has it. */
  knownAs({ id, name, checksum }: SavedDefinition): WorkflowDefinition | undefined {
    const known = this.#known.get(id)
    return known?.name === name && known.record.checksum === checksum ? known : undefined
  }

  /** The name, version and shape of the definition with this number, if this process has it or has read it. */
  recordOf(definitionId: number): DefinitionRecord | undefined {
    return this.#known.get(definitionId)?.record ?? this.#learnt.get(definitionId)
  }

  /** Reads definitions from the store that this process does not have. */
  async learn(definitionIds: readonly number[]): Promise<void> {
    const strange = definitionIds.filter((id) => this.recordOf(id) === undefined)
    if (strange.length === 0) return
    for (const found of await this.#adapter.readDefinitions(strange)) this.#learnt.set(found.id, found)
  }

  /** The steps past whose failure runs of this definition continue, by number. Reads a definition that this process does not have, once. */
  async mayFail(definitionId: number): Promise<ReadonlySet<number>> {
    return (await this.marked(definitionId)).mayFail
  }

  /** What the readers of runs must know of this definition's steps. Reads a definition that this process does not have, once. */
  async marked(definitionId: number): Promise<MarkedSteps> {
    const workflow = this.known(definitionId)
    const known = this.#marked.get(definitionId)
    if (known !== undefined) return { ...known, workflow }
    await this.learn([definitionId])
    const steps = this.recordOf(definitionId)?.shape.steps ?? []
    const where = (holds: (shape: StepShape) => boolean) =>
      new Set(steps.flatMap((shape, step) => (holds(shape) ? [step] : [])))
    const found = { mayFail: where(continuesPast), parents: where(sharesFate), shapes: steps }
    if (steps.length > 0) this.#marked.set(definitionId, found)
    return { ...found, workflow }
  }

  /** The definition of a run, if this process started the run or has its version among `workflows`. Throws `definition_changed`. */
  async find(
    run: FoundRun,
    workflows: readonly WorkflowDefinition[],
    tx?: unknown,
  ): Promise<WorkflowDefinition | undefined> {
    const known = this.#known.get(run.definitionId)
    if (known !== undefined) return known
    for (const given of workflows) {
      if (given.name !== run.workflow) continue
      // In development mode any version of the code may be stored with the run's number.
      if (given.version !== run.version && !this.#parts.dev) continue
      if ((await this.save(given, tx)).id === run.definitionId) return given
    }
    return undefined
  }
}

// The key includes the checksum: if one process has two shapes of one version, each must be checked.
function cacheKey({ record }: WorkflowDefinition): string {
  return `${record.name}@${record.version}#${record.checksum}`
}

function changed({ record }: WorkflowDefinition, saved: SavedDefinition): BelayError {
  return new BelayError(
    'definition_changed',
    `Workflow "${record.name}" version ${record.version} is stored with another shape. Runs keep the version they started with, so a changed graph needs a new version: give version ${record.version + 1}, and keep version ${record.version} registered until its runs have ended. While you develop, createEngine({ dev: true }) does without a new version.\n${diffShapes(saved.shape, record.shape).join('\n')}`,
  )
}
