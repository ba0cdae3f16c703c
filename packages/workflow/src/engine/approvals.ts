import type { Adapter, ApprovalPosition, ApprovalRecord } from '../adapter/index.ts'
import { checkNames, invalidOption, wholeNumber } from './call-options.ts'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1_000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const CALL = 'approvals.pending()'

export interface PendingApprovalsOptions {
  /** Only of this workflow, by name; every version of it. */
  readonly workflow?: string | undefined
  /** Only of steps with this name. */
  readonly step?: string | undefined
  /** For paging: the last approval of the page before. */
  readonly before?: Pick<PendingApproval, 'runId' | 'step'> | undefined
  /** 1 to 1,000; default 100. */
  readonly limit?: number | undefined
}

/** A step that waits for somebody's decision. */
export interface PendingApproval {
  readonly runId: string
  readonly workflow: string
  readonly version: number
  /** The run's key. */
  readonly key: string | undefined
  readonly step: string
  /** When it began to wait. */
  readonly since: Date
  /** When its wait times out. Undefined for never. */
  readonly timeoutAt: Date | undefined
}

/** Approvals across runs. */
export class Approvals {
  readonly #adapter: Adapter
  readonly #assertOpen: () => void

  constructor(adapter: Adapter, assertOpen: () => void) {
    this.#adapter = adapter
    this.#assertOpen = assertOpen
  }

  /**
   * Steps that wait for a decision, those of the newest run first, one page at a time. An approval that its run has not come to yet is not
   * among them, although it can be decided already. Costs as much as there are live runs of workflows that have approvals.
   *
   * @throws BelayError `invalid_option`, `engine_closed`, and the store's.
   */
  async pending(options: PendingApprovalsOptions = {}): Promise<readonly PendingApproval[]> {
    this.#assertOpen()
    const { workflow, step, after, limit } = checkOptions(options)
    await this.#adapter.open()
    const approvals: ApprovalRecord[] = []
    let position: ApprovalPosition | null = after
    for (let more = true; more && approvals.length < limit; ) {
      const found = await this.#adapter.findApprovals({
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

function checkOptions(options: PendingApprovalsOptions) {
  checkNames(CALL, options, ['workflow', 'step', 'before', 'limit'])
  const { workflow, step, before } = options
  const limit = wholeNumber(CALL, 'limit', options.limit ?? LIMIT_DEFAULT, 1, LIMIT_MAX)
  checkName('workflow', workflow)
  checkName('step', step)
  return { workflow, step, after: before === undefined ? null : checkPosition(before), limit }
}

function checkName(option: string, name: unknown): void {
  if (name === undefined || (typeof name === 'string' && !name.includes('\0'))) return
  throw invalidOption(CALL, option, name, `a ${option}'s name`)
}

function checkPosition(before: unknown): ApprovalPosition {
  const { runId, step } = (before ?? {}) as Partial<ApprovalPosition>
  if (typeof runId === 'string' && UUID.test(runId) && typeof step === 'string' && !step.includes('\0')) {
    return { runId: runId.toLowerCase(), step }
  }
  throw invalidOption(CALL, 'before', before, 'an approval of the page before, with its runId and step')
}

function pendingApproval({ key, since, timeoutAt, ...approval }: ApprovalRecord): PendingApproval {
  return {
    ...approval,
    key: key ?? undefined,
    since: new Date(since),
    timeoutAt: timeoutAt === null ? undefined : new Date(timeoutAt),
  }
}
