import type { Adapter, BegunUndo, ChangedRun, DrainedRun, UndoPlan } from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import type { Runtime } from '../base/runtime.ts'
import type { SetAside } from '../base/set-aside.ts'
import { planUndo } from '../decisions/plan-undo.ts'
import type { Session } from './session.ts'

/** The most runs that one round plans. */
const ROUND_MAX = 100
/** The longest interval between two looks at all runs. */
const LOOK_AT_ALL_MS = 1_000

export interface SagasParts {
  readonly adapter: Adapter
  readonly runtime: Runtime
  readonly aside: SetAside
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
}

/** Begins the undo of stopped runs: of those it was told of at once, and at intervals of any, since the worker that knew of them may have died. */
export class Sagas {
  readonly #parts: SagasParts
  readonly #stopping = new Set<string>()
  #looksAtAllAt = 0
  #lookedAtAll = false

  constructor(parts: SagasParts) {
    this.#parts = parts
  }

  /** The undo of this run may be due. */
  note(runId: string): void {
    this.#stopping.add(runId)
  }

  /** Whether the newest look was at all runs. */
  get hasLookedAtAll(): boolean {
    return this.#lookedAtAll && this.#stopping.size === 0
  }

  /** Begins every undo that is due. Resolves to the runs that changed status. */
  async advance({ intake }: Session): Promise<readonly ChangedRun[]> {
    const { adapter, definitions, aside } = this.#parts
    if (definitions.size === 0) return []
    const runIds = this.#runsToLookAt()
    return beginDueUndos({ adapter, definitions, aside, runIds, begin: (plans) => intake.beginUndo(plans) })
  }

  /** Undefined means any. */
  #runsToLookAt(): readonly string[] | undefined {
    const known = [...this.#stopping]
    this.#stopping.clear()
    const now = this.#parts.runtime.clock.now()
    this.#lookedAtAll = known.length === 0 || now >= this.#looksAtAllAt
    if (!this.#lookedAtAll) return known
    this.#looksAtAllAt = now + LOOK_AT_ALL_MS
    return undefined
  }
}

/**
 * Begins the undos of stopped runs: once nothing is in flight in a run, plans its undo and begins it. Any worker may do this at any time, because
 * the store begins a run's undo only once. The end of the last attempt triggers nothing: the next look finds the run drained.
 */
async function beginDueUndos(parts: {
  readonly adapter: Adapter
  readonly aside: SetAside
  readonly definitions: ReadonlyMap<number, WorkflowDefinition>
  /** Only these runs; undefined means any. */
  readonly runIds: readonly string[] | undefined
  /** Begins undos in the store, and takes on the steps that it leases. */
  readonly begin: (plans: readonly UndoPlan[]) => Promise<readonly BegunUndo[]>
}): Promise<readonly ChangedRun[]> {
  const moved: ChangedRun[] = []
  // A copy, because numbers change if the store has lost a definition.
  const definitions = new Map(parts.definitions)
  for (;;) {
    const drained = await parts.adapter.drain({
      definitionIds: [...definitions.keys()],
      runIds: parts.runIds,
      limit: ROUND_MAX,
    })
    if (drained.length === 0) return moved
    const begun: BegunUndo[] = []
    // A run that another transaction has locked, or that cannot be planned or begun, waits for the next look, and holds up no other.
    await parts.aside.each(drained, {
      subjectOf: ({ runId }) => ({ during: 'beginning the undo', runId }),
      work: async (runs) => {
        begun.push(...(await parts.begin(runs.map((run) => planOf(definitions, run)))))
      },
    })
    moved.push(...begun)
    // If none of the drained runs was begun, another worker is handling them. After a full round there may be more.
    if (begun.length === 0 || drained.length < ROUND_MAX) return moved
  }
}

function planOf(definitions: ReadonlyMap<number, WorkflowDefinition>, run: DrainedRun): UndoPlan {
  const { graph, record } = definitions.get(run.definitionId)!
  return planUndo(graph, record.shape, run)
}
