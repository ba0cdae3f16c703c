import type { Adapter } from '../adapter/index.ts'
import type { Duration } from '../duration.ts'
import { BelayError } from '../errors.ts'
import { checkNames, durationBetween } from './call-options.ts'
import { type Finding, findingsOf } from './findings.ts'

export interface DoctorOptions {
  /** How long a run may be paused before that is a finding. Default 1 h. */
  readonly pausedFor?: Duration
  /** How long a step may be due before that is a finding. Default 1 min. */
  readonly overdueFor?: Duration
}

export interface DoctorReport {
  /** There are no findings. */
  readonly healthy: boolean
  /** The worst first. */
  readonly findings: readonly Finding[]
  /** What the store says of itself, like its version and its schema. */
  readonly store: Readonly<Record<string, string>>
  /** The store's time; undefined when it could not be asked. */
  readonly checkedAt: Date | undefined
}

const CALL = 'doctor()'
const DAY_MS = 86_400_000

/** Looks for what keeps runs from going on. Throws `invalid_option`, and `store_unavailable` when the store cannot be reached. */
export async function doctor(adapter: Adapter, options: DoctorOptions = {}): Promise<DoctorReport> {
  checkNames(CALL, options, ['pausedFor', 'overdueFor'])
  const pausedMs = durationBetween(CALL, 'pausedFor', options.pausedFor ?? '1h', 0, 10_000 * DAY_MS)
  const overdueMs = durationBetween(CALL, 'overdueFor', options.overdueFor ?? '1m', 0, 10_000 * DAY_MS)
  try {
    await adapter.open()
  } catch (error) {
    if (!BelayError.is(error) || error.code === 'store_unavailable' || error.code === 'engine_closed')
      throw error
    return unusable(adapter, error)
  }
  const diagnosis = await adapter.diagnose({ overdueMs })
  const findings = findingsOf(diagnosis, { pausedMs, overdueMs })
  return {
    healthy: findings.length === 0,
    findings,
    store: diagnosis.store,
    checkedAt: new Date(diagnosis.now),
  }
}

function unusable(adapter: Adapter, { code, message }: BelayError): DoctorReport {
  return {
    healthy: false,
    findings: [
      {
        type: 'store_unusable',
        code,
        message,
        remedy: 'No engine starts on this store before that is put right; the message says how.',
      },
    ],
    store: { adapter: adapter.name },
    checkedAt: undefined,
  }
}
