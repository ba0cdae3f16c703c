import type { Adapter, ApprovalPosition, ApprovalRecord, ApprovalsRequest } from '../../adapter/index.ts'
import {
  checkFilter,
  id,
  type Kind,
  name,
  type OptionTable,
  Refusal,
  wholeNumber,
} from '../../options/index.ts'
import { shown } from '../../shown.ts'

export interface PendingApprovalsOptions {
  /** Only runs of this workflow, by name, in every version. */
  readonly workflow?: string
  /** Only steps with this name. */
  readonly step?: string
  /** For paging: the last approval of the previous page. */
  readonly before?: Pick<PendingApproval, 'runId' | 'step'> | undefined
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined
}

/** A step that waits for somebody's decision, or, if it is one of `engine.signals`, for a signal. */
export interface PendingApproval {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  /** The run's key. */
  readonly key: string | undefined
  readonly step: string
  /** When it began to wait. */
  readonly since: Date
  /** When its wait times out. Undefined if it has no timeout. */
  readonly timeoutAt: Date | undefined
}

const POSITION: Kind<ApprovalPosition> = {
  words: 'an approval of the previous page, with its runId and step',
  read(given) {
    const { runId, step } = given as ApprovalPosition
    const [ofRun, ofStep] = [id('run').read(runId), name.read(step)]
    if (Refusal.is(ofRun) || Refusal.is(ofStep)) return new Refusal(shown(given))
    return { runId: ofRun.toLowerCase(), step: ofStep }
  },
}

const FILTER = {
  workflow: { sets: 'whose approvals', takes: name, narrows: true },
  step: { sets: 'the name of the steps', takes: name, narrows: true },
  before: { sets: 'the last approval of the previous page', takes: POSITION },
  limit: { sets: 'how many approvals are read at most', takes: wholeNumber(1, 1_000), default: 100 },
} satisfies OptionTable

/** Approvals across runs, or, as `engine.signals`, steps that wait for a signal. */
export class Approvals {
  readonly #adapter: Adapter
  readonly #assertOpen: () => void
  readonly #kind: ApprovalsRequest['kind']

  /** @internal */
  constructor(adapter: Adapter, assertOpen: () => void, kind: ApprovalsRequest['kind']) {
    this.#adapter = adapter
    this.#assertOpen = assertOpen
    this.#kind = kind
  }

  /**
   * Lists steps that wait for a decision, or for a signal, newest run first, one page at a time. Leaves out those whose dependencies have not completed,
   * although they can already be decided, or sent. The cost grows with the number of live runs of workflows that have such steps.
   *
   * @throws BelayError `invalid_option`, `engine_closed`, and the store's errors.
   */
  async pending(options: PendingApprovalsOptions = {}): Promise<readonly PendingApproval[]> {
    this.#assertOpen()
    const { workflow, step, before, limit } = checkFilter(`${this.#kind}s.pending()`, options, FILTER)
    await this.#adapter.open()
    const approvals: ApprovalRecord[] = []
    let position: ApprovalPosition | null = before ?? null
    for (let more = true; more && approvals.length < limit; ) {
      const found = await this.#adapter.findApprovals({
        kind: this.#kind,
        workflow,
        step,
        after: position,
        limit: limit - approvals.length,
      })
      approvals.push(...found.approvals)
      position = found.cursor
      more = found.more
    }
    return approvals.map(pendingApproval)
  }
}

function pendingApproval({ key, since, timeoutAt, ...approval }: ApprovalRecord): PendingApproval {
  return {
    ...approval,
    key: key ?? undefined,
    since: new Date(since),
    timeoutAt: timeoutAt === null ? undefined : new Date(timeoutAt),
  }
}
