import type { Adapter, ListedDefinition } from '../../adapter/index.ts'
import { VERSION_MAX } from '../../definition/compile.ts'
import { BelayError } from '../../errors.ts'
import { didYouMean } from '../../nearest.ts'
import { checkArgument, wholeNumber } from '../../options/index.ts'
import { shown } from '../../shown.ts'
import { type WorkflowStep, workflowSteps } from '../base/workflow-steps.ts'
import type { CountedRuns } from '../runs/counted-runs.ts'
import { workflowName } from '../runs/run-reference.ts'
import { newestStored } from '../start/newest-stored.ts'

/** How many workflows one call to the store lists. */
const PAGE = 50
/** The most live runs of a workflow and a stored status that are counted. */
const LIVE_MAX = 1_000

/** A workflow that the store knows. */
export interface WorkflowSummary {
  readonly name: string
  /** All stored versions, the highest first. */
  readonly versions: readonly WorkflowVersion[]
}

/** A stored version of a workflow. */
export interface WorkflowVersion {
  readonly version: number
  /** When it was first stored, by the store's clock. */
  readonly createdAt: Date
  /**
   * Runs of this version that have not ended. The 1,000 oldest live runs of the workflow in each stored status are counted (going forward, paused, being
   * undone, parked in their undo); if it has more, each of its versions is `capped`.
   */
  readonly liveRuns: CountedRuns
}

/** A version of a workflow with its graph. */
export interface WorkflowSnapshot {
  readonly name: string
  readonly version: number
  /** Each step after those on which it depends. */
  readonly steps: readonly WorkflowStep[]
}

/** Reads workflows that any process has stored. This process needs no definition of them. */
export class Workflows {
  readonly #adapter: Adapter
  readonly #assertOpen: () => void

  constructor(adapter: Adapter, assertOpen: () => void) {
    this.#adapter = adapter
    this.#assertOpen = assertOpen
  }

  /**
   * Lists all stored workflows by name, with their versions and live runs. A workflow is stored when a worker that has it starts, or with its first run.
   * The follow-ups of end steps are a workflow of their own, `name/ended`, as in `runs.list()`. Throws the store's errors.
   */
  async list(): Promise<readonly WorkflowSummary[]> {
    this.#assertOpen()
    await this.#adapter.open()
    const versions = new Map<string, WorkflowVersion[]>()
    for (const { name, version, createdAt, liveRuns, capped } of await this.#all(LIVE_MAX)) {
      const known = versions.get(name) ?? []
      versions.set(name, known)
      known.push({ version, createdAt: new Date(createdAt), liveRuns: { count: liveRuns, capped } })
    }
    return [...versions].map(([name, stored]) => ({ name, versions: stored }))
  }

  /**
   * The steps of a stored workflow, in the given version or in that which `engine.run(name)` would start from the store: the highest, or in development
   * mode that of the newest live worker.
   *
   * @throws BelayError `unknown_workflow` if this workflow or version is not stored, `invalid_option`, and the store's errors.
   */
  async get(name: string, version?: number): Promise<WorkflowSnapshot> {
    this.#assertOpen()
    const wanted = workflowName('workflows.get()', name)
    if (version !== undefined)
      checkArgument('workflows.get()', 'the version', version, wholeNumber(1, VERSION_MAX))
    await this.#adapter.open()
    const stored =
      version === undefined
        ? await newestStored(this.#adapter, wanted)
        : await this.#adapter.findDefinition({ name: wanted, version })
    if (stored === null) throw unknownWorkflow(wanted, version, await this.#all(0))
    return { name: stored.name, version: stored.version, steps: workflowSteps(stored) }
  }

  async #all(liveMax: number): Promise<readonly ListedDefinition[]> {
    const all: ListedDefinition[] = []
    for (let after: string | null = null; ; ) {
      const page: readonly ListedDefinition[] = await this.#adapter.listDefinitions({
        after,
        limit: PAGE,
        liveMax,
      })
      all.push(...page)
      const last: ListedDefinition | undefined = page.at(-1)
      if (last === undefined) return all
      after = last.name
    }
  }
}

function unknownWorkflow(
  name: string,
  version: number | undefined,
  stored: readonly ListedDefinition[],
): BelayError {
  const versions = stored.filter((one) => one.name === name).map((one) => one.version)
  if (version === undefined || versions.length === 0) {
    return new BelayError(
      'unknown_workflow',
      `workflows.get(): no workflow ${shown(name)} is stored.${didYouMean(name, new Set(stored.map((one) => one.name)))}`,
      { remedy: 'Give the name of one that workflows.list() names.' },
    )
  }
  return new BelayError(
    'unknown_workflow',
    `workflows.get(): version ${version} of workflow ${shown(name)} is not stored.`,
    { remedy: `Give one of its stored versions: ${versions.join(', ')}.` },
  )
}
