import {
  type Adapter,
  continuesPast,
  type DefinitionRecord,
  type FoundRun,
  type SavedDefinition,
  type WithinTransaction,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { diffShapes } from '../../graph/index.ts'

/** Saves each definition once per process and keeps the store's number for it. Refuses a definition whose version is stored with another shape. */
export class DefinitionRegistry {
  readonly #adapter: Adapter
  readonly #saved = new Map<string, SavedDefinition>()
  /** Definitions being saved, outside callers' transactions. */
  readonly #saving = new Map<string, Promise<SavedDefinition>>()
  /** This process's definitions by the store's number; the store confirmed their shapes. */
  readonly #known = new Map<number, WorkflowDefinition>()
  /** Other definitions, as the store has them. */
  readonly #learnt = new Map<number, DefinitionRecord>()
  readonly #mayFail = new Map<number, ReadonlySet<number>>()

  constructor(adapter: Adapter) {
    this.#adapter = adapter
  }

  /** Saves definitions. Resolves to a map by the store's number. Throws `definition_changed`. */
  async saveAll(workflows: readonly WorkflowDefinition[]): Promise<ReadonlyMap<number, WorkflowDefinition>> {
    if (workflows.length === 0) return new Map()
    const saved = await this.#adapter.saveDefinitions(workflows.map(({ record }) => record))
    return new Map(
      workflows.map((workflow, index) => {
        const definition = saved[index]!
        assertSameShape(workflow, definition)
        this.#keep(workflow, cacheKey(workflow), definition)
        return [definition.id, workflow]
      }),
    )
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

  async #saveOne(
    workflow: WorkflowDefinition,
    key: string,
    within?: WithinTransaction,
  ): Promise<SavedDefinition> {
    const [saved] = await this.#adapter.saveDefinitions([workflow.record], within)
    assertSameShape(workflow, saved!)
    // An uncommitted definition is not kept: a rollback removes it.
    if (!saved!.uncommitted) this.#keep(workflow, key, saved!)
    return saved!
  }

  #keep(workflow: WorkflowDefinition, key: string, saved: SavedDefinition): void {
    this.#saved.set(key, saved)
    this.#known.set(saved.id, workflow)
  }

  /** The definition with this number, if this process has it. */
  known(definitionId: number): WorkflowDefinition | undefined {
    return this.#known.get(definitionId)
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
    const known = this.#mayFail.get(definitionId)
    if (known !== undefined) return known
    await this.learn([definitionId])
    const steps = this.recordOf(definitionId)?.shape.steps ?? []
    const found = new Set(steps.flatMap((shape, step) => (continuesPast(shape) ? [step] : [])))
    if (steps.length > 0) this.#mayFail.set(definitionId, found)
    return found
  }

  /** The definition of a run, if this process started the run or has its version among `workflows`. Throws `definition_changed`. */
  async find(
    run: FoundRun,
    workflows: readonly WorkflowDefinition[],
    tx?: unknown,
  ): Promise<WorkflowDefinition | undefined> {
    const known = this.#known.get(run.definitionId)
    if (known !== undefined) return known
    const given = workflows.find(({ name, version }) => name === run.workflow && version === run.version)
    if (given !== undefined) await this.save(given, tx)
    return given
  }
}

// The key includes the checksum: if one process has two shapes of one version, each must be checked.
function cacheKey({ record }: WorkflowDefinition): string {
  return `${record.name}@${record.version}#${record.checksum}`
}

function assertSameShape({ record }: WorkflowDefinition, saved: SavedDefinition): void {
  if (saved.checksum === record.checksum) return
  throw new BelayError(
    'definition_changed',
    `Workflow "${record.name}" version ${record.version} is stored with another shape. Runs keep the version they started with, so a changed graph needs a new version: give version ${record.version + 1}, and keep version ${record.version} registered until its runs have ended.\n${diffShapes(saved.shape, record.shape).join('\n')}`,
  )
}
