import { holdsLease } from '../../adapter/holds-lease.ts'
import {
  type Adapter,
  type RefusedRow,
  type RunEnd,
  type RunRecord,
  SHOWN_OF_RUNNING,
} from '../../adapter/index.ts'
import type { WorkflowDefinition } from '../../definition/workflow.ts'
import { BelayError } from '../../errors.ts'
import { checkOptions, name, type OptionTable, oneOrList, wholeNumber, yesOrNo } from '../../options/index.ts'
import { countApart } from '../base/count-apart.ts'
import type { DefinitionRegistry } from '../base/definition-registry.ts'
import { pause, type Runtime } from '../base/runtime.ts'
import { sendApart } from '../base/send-apart.ts'
import { reasonOf } from '../base/set-aside.ts'
import { withFollowUps } from '../base/with-follow-ups.ts'
import type { Actor } from './change-of.ts'
import type { Control } from './control.ts'
import { FailedRuns } from './failed-runs.ts'
import { ACTION_OPTIONS, type ActionOptions, actorOf } from './options.ts'

const CALL = 'runs.dropForgotten()'

/** Workers are looked up anew for each page: one that has the code of its runs may have come meanwhile. */
const PAGE = 50
const WORKFLOWS_MAX = 1_000
const ENDS_PAGE = 200
/** How often a parent is told whose step is busy. */
const TELLS_MAX = 5
const BUSY_MS = 20

const OPTIONS = {
  ...ACTION_OPTIONS,
  workflow: { sets: 'the workflows whose forgotten runs are dropped', takes: oneOrList(name, WORKFLOWS_MAX) },
  dryRun: { sets: 'whether to report runs without dropping them', takes: yesOrNo, default: false },
  limit: { sets: 'how many runs at most', takes: wholeNumber(1, 100_000), default: 1_000 },
} satisfies OptionTable

export interface DropOptions extends ActionOptions {
  /** Only runs of this workflow, or of these. Default: the workflows of this engine. */
  readonly workflow?: string | readonly string[] | undefined
  /** True reports the runs and changes nothing. Default false. */
  readonly dryRun?: boolean | undefined
  /** The most runs to drop, newest first, 1 to 100,000. Default 1,000. */
  readonly limit?: number | undefined
}

export interface DroppedRuns {
  /** The runs that were dropped, or would be in a dry run. */
  readonly runIds: readonly string[]
  /** Runs of forgotten versions that could not be dropped now, and why; also runs that cannot be read, and dropped ones whose key or parent was left. */
  readonly refused: readonly { readonly runId: string; readonly why: string }[]
  /** There may be more runs: the limit was reached. */
  readonly more: boolean
}

export interface DropParts {
  readonly adapter: Adapter
  readonly registry: DefinitionRegistry
  readonly control: Control
  readonly runtime: Pick<Runtime, 'clock'>
  readonly dev: boolean
  readonly workflows: readonly WorkflowDefinition[]
}

/**
 * Ends the live runs of versions that neither this engine nor any live worker has, undoes nothing, and releases their keys. Only in development mode.
 *
 * @throws BelayError `action_refused` without development mode, `invalid_option`, and the store's errors.
 */
export async function dropForgotten(parts: DropParts, options: DropOptions): Promise<DroppedRuns> {
  const { workflow, dryRun, limit, ...own } = checkOptions(CALL, options, OPTIONS)
  assertDevelopment(parts)
  const { adapter, workflows } = parts
  const names = workflow ?? namesOf(workflows)
  await adapter.open()
  const ownIds = new Set((await parts.registry.saveAll(withFollowUps(workflows))).keys())
  const drop = new Drop(parts, dryRun, actorOf(own))
  let before: string | undefined
  for (;;) {
    const unread: string[] = []
    const onRefused = ({ runId, error }: RefusedRow) => {
      unread.push(runId)
      drop.refuse(runId, error)
    }
    const page = await adapter.listRuns({ workflow: names, status: LIVE, before, limit: PAGE, onRefused })
    const forgotten = await unserved(adapter, ownIds, page)
    const room = limit - drop.runIds.length
    await drop.page(forgotten.slice(0, room))
    const more = forgotten.length > room
    if (more || page.length + unread.length < PAGE)
      return { runIds: drop.runIds, refused: drop.refused, more }
    before = [...page.map(({ runId }) => runId), ...unread].sort()[0]
  }
}

const LIVE = [...SHOWN_OF_RUNNING, 'paused', 'compensating', 'compensation_failed'] as const

function assertDevelopment({ dev }: DropParts): void {
  if (dev) return
  throw new BelayError('action_refused', `${CALL} is for development: it ends runs and undoes nothing.`, {
    remedy:
      'Where runs matter, start a worker that has their version, move them to another version, or cancel them.',
  })
}

function namesOf(workflows: readonly WorkflowDefinition[]): readonly string[] {
  if (workflows.length > 0) return [...new Set(withFollowUps(workflows).map((workflow) => workflow.name))]
  throw new BelayError(
    'invalid_option',
    `${CALL}: this engine has no workflows. Name those whose forgotten runs are dropped: { workflow: 'order' }.`,
  )
}

/** Those of these runs whose version no live worker has. A worker that does not report its definitions is assumed to have all. */
async function unserved(
  adapter: Adapter,
  ownIds: ReadonlySet<number>,
  runs: readonly RunRecord[],
): Promise<readonly RunRecord[]> {
  const strange = runs.filter(({ definitionId }) => !ownIds.has(definitionId))
  if (strange.length === 0) return strange
  const [workers, now] = await Promise.all([adapter.listWorkers(), adapter.now()])
  const live = workers.filter((worker) => holdsLease(worker, now))
  if (live.some(({ definitionIds }) => definitionIds === null)) return []
  const served = new Set(live.flatMap(({ definitionIds }) => definitionIds ?? []))
  return strange.filter(({ definitionId }) => !served.has(definitionId))
}

class Drop {
  readonly runIds: string[] = []
  readonly refused: { readonly runId: string; readonly why: string }[] = []
  readonly #failed = new FailedRuns()
  readonly #parts: DropParts
  readonly #dryRun: boolean
  readonly #by: Actor

  constructor(parts: DropParts, dryRun: boolean, by: Actor) {
    this.#parts = parts
    this.#dryRun = dryRun
    this.#by = { ...by, reason: by.reason ?? 'its code is gone' }
  }

  async page(runs: readonly RunRecord[]): Promise<void> {
    const dropped: RunRecord[] = []
    for (const run of runs) if (await this.#dropOne(run.runId)) dropped.push(run)
    this.runIds.push(...dropped.map(({ runId }) => runId))
    if (this.#dryRun || dropped.length === 0) return
    const { adapter } = this.#parts
    const finishedBefore = (await adapter.now()) + 1
    const runIds = dropped.map(({ runId }) => runId)
    await countApart(
      runIds,
      (part) => adapter.releaseKeys({ runIds: part, finishedBefore }),
      (runId, error) => this.refuse(runId, error),
    )
    await this.#tellParents(dropped)
  }

  refuse(runId: string, error: unknown): void {
    this.refused.push({ runId, why: reasonOf(error) })
  }

  async #dropOne(runId: string): Promise<boolean> {
    try {
      const isDropped = await this.#drops(runId)
      this.#failed.succeeded()
      return isDropped
    } catch (error) {
      // It was deleted meanwhile.
      if (BelayError.is(error) && error.code === 'unknown_run') return false
      this.#failed.assertOfOne(error)
      this.refused.push({ runId, why: reasonOf(error) })
      return false
    }
  }

  async #drops(runId: string): Promise<boolean> {
    const { control } = this.#parts
    if (!this.#dryRun) return control.drop(runId, this.#by)
    return (await control.wouldAct(runId, { type: 'drop' }, this.#by)).changed
  }

  /** Workers follow only ends of their own definitions: nobody else would wake the parents of these runs. Their end steps have no code any more. */
  async #tellParents(runs: readonly RunRecord[]): Promise<void> {
    const { adapter, control, runtime } = this.#parts
    const dropped = new Set(runs.map(({ runId }) => runId))
    const definitionIds = [...new Set(runs.map(({ definitionId }) => definitionId))]
    let after: string | undefined
    for (;;) {
      const ends = await adapter.findRunEnds({ definitionIds, after, limit: ENDS_PAGE })
      let untold: readonly RunEnd[] = ends.filter(({ runId }) => dropped.has(runId))
      for (let tell = 0; untold.length > 0 && tell < TELLS_MAX; tell += 1) {
        if (tell > 0) await pause(runtime.clock, BUSY_MS)
        untold = await this.#tell(untold)
      }
      if (ends.length < ENDS_PAGE) break
      after = ends.at(-1)!.sequence
    }
    control.queued()
  }

  /** Resolves to the ends of which a parent's step is busy. One that the store refuses keeps no others. */
  async #tell(ends: readonly RunEnd[]): Promise<readonly RunEnd[]> {
    const { adapter } = this.#parts
    const busy: RunEnd[] = []
    await sendApart(ends, {
      send: async (part) => {
        const answers = await adapter.wakeParents(part.map(({ runId }) => runId))
        const isBusy = (_: RunEnd, index: number) => answers[index]!.result === 'busy'
        await adapter.forgetRunEnds(part.filter((end, index) => !isBusy(end, index)))
        busy.push(...part.filter(isBusy))
      },
      refused: ({ runId }, error) => this.refuse(runId, error),
      heldUp: (end) => void busy.push(end),
      unanswered: (_, error) => {
        throw error
      },
    })
    return busy
  }
}
