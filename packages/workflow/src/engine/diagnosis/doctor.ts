import { DERIVED_FROM } from '../../adapter/derived-from.ts'
import type { Adapter, Diagnosis } from '../../adapter/index.ts'
import type { Duration } from '../../duration.ts'
import { BelayError } from '../../errors.ts'
import { callback, checkOptions, duration, type OptionTable, share } from '../../options/index.ts'
import { reasonOf } from '../base/set-aside.ts'
import type { Finding, FindingDraft } from './finding.ts'
import { findingsOf } from './findings.ts'
import { circleFindings, limitFindings } from './limit-findings.ts'
import { type Quote, quoteInFull } from './quote.ts'
import { refused, type SetAsideWork } from './refused-findings.ts'
import { retriesOf } from './retries.ts'
import { scheduleFindings } from './schedule-findings.ts'

export interface DoctorOptions {
  /** How long a run may be paused before it is a finding. Default 1 h. */
  readonly pausedFor?: Duration
  /** How long a step may be due before it is a finding. Default 1 min. */
  readonly overdueFor?: Duration
  /** How far back ends and starts of runs are counted, for failures and a growing queue. Default 15 min. */
  readonly recent?: Duration
  /** The share of the runs ended in that time from which failures are a finding, as a number from 0 to 1, if at least three failed. Default 0.1. */
  readonly failureRate?: number
  /** How sentences tell why the store refuses something. Default: in full. `quoteWithoutPayloads` is for readers who may not see payloads. */
  readonly quote?: Quote | undefined
}

export interface DoctorReport {
  /** There are no findings. */
  readonly healthy: boolean
  /** The worst first. */
  readonly findings: readonly Finding[]
  /** The store's description of itself, like its version and its schema. */
  readonly store: Readonly<Record<string, string>>
  /** The store's time; undefined if it could not be read. */
  readonly checkedAt: Date | undefined
}

const OPTIONS = {
  pausedFor: { sets: 'how long a run may be paused', takes: duration(0, '10000d'), default: '1h' },
  overdueFor: { sets: 'how long a step may be due', takes: duration(0, '10000d'), default: '1m' },
  recent: { sets: 'how far back ends and starts are counted', takes: duration('1s', '30d'), default: '15m' },
  failureRate: { sets: 'the share of failures that is a finding', takes: share, default: 0.1 },
  quote: { sets: 'how sentences tell a refusal', takes: callback<Quote>(), default: quoteInFull },
} satisfies OptionTable

/** What this process has noticed of the store's history. */
interface SetBack {
  readonly at: number
  readonly isSure: boolean
  readonly what: string
  readonly remedy: string
}

/** Finds reasons why runs do not progress. Throws `invalid_option`, and `store_unavailable` if the store cannot be reached. */
export async function doctor(
  adapter: Adapter,
  options: DoctorOptions = {},
  {
    dev = false,
    setBack,
    aside = [],
  }: {
    readonly dev?: boolean
    readonly setBack?: SetBack | undefined
    /** What this process has set aside, because the store refuses it. */
    readonly aside?: readonly SetAsideWork[]
  } = {},
): Promise<DoctorReport> {
  const checked = checkOptions('doctor()', options, OPTIONS)
  const { pausedFor: pausedMs, overdueFor: overdueMs, recent: recentMs, failureRate } = checked
  try {
    await adapter.open()
  } catch (error) {
    if (!BelayError.is(error) || error.code === 'store_unavailable' || error.code === 'engine_closed')
      throw error
    return unusable(adapter, error)
  }
  const unread: SetAsideWork[] = []
  const onUnread = (name: string, error: unknown) =>
    void unread.push({ during: 'the diagnosis', name, reason: reasonOf(error), forMs: 0 })
  const diagnosis = await adapter.diagnose({ overdueMs, recentMs, onUnread })
  const derivedFrom = await derivedVersions(adapter, diagnosis)
  const limits = await adapter.readLimits()
  const waits = limits.some(({ waiting, inUse }) => waiting > 0 && inUse > 0)
  const found = [
    ...(setBack === undefined ? [] : [wentBack(setBack)]),
    ...[...aside, ...unread].map((one) => refused(one, diagnosis.now, checked.quote)),
    ...findingsOf(diagnosis, { pausedMs, failureRate, dev, derivedFrom }),
    ...(await scheduleFindings(adapter, diagnosis, overdueMs)),
    ...limits.flatMap(limitFindings),
    ...circleFindings(limits, waits ? await adapter.readLimitCircles() : []),
  ]
  const findings = await Promise.all(found.map((one) => withActions(adapter, one)))
  return {
    healthy: findings.length === 0,
    findings,
    store: diagnosis.store,
    checkedAt: new Date(diagnosis.now),
  }
}

/** The versions that the code of these derived ones states, by the store's number. Development mode stores them in no other range. */
async function derivedVersions(
  adapter: Adapter,
  { liveRuns }: Diagnosis,
): Promise<ReadonlyMap<number, number>> {
  const found = liveRuns.filter(({ version }) => version >= DERIVED_FROM)
  if (found.length === 0) return new Map()
  const definitions = await adapter.readDefinitions(found.map(({ definitionId }) => definitionId))
  return new Map(
    definitions.flatMap(({ id, shape: { derivedFrom } }) =>
      derivedFrom === undefined ? [] : [[id, derivedFrom]],
    ),
  )
}

async function withActions(adapter: Adapter, draft: FindingDraft): Promise<Finding> {
  // Only the store knows which of them can be retried only through their parents.
  const actions =
    draft.type === 'failing_runs' ? await retriesOf(adapter, draft.runIds) : (draft.actions ?? [])
  return { ...draft, actions }
}

function wentBack({ at, isSure, what, remedy }: SetBack): FindingDraft {
  return { type: 'store_went_back', at: new Date(at), isSure, message: what, remedy }
}

function unusable(adapter: Adapter, { code, what: message, remedy }: BelayError): DoctorReport {
  return {
    healthy: false,
    findings: [
      {
        type: 'store_unusable',
        code,
        message,
        remedy:
          remedy === undefined
            ? 'No engine can start on this store until this is fixed; the message says how.'
            : `${remedy} No engine can start on this store until then.`,
        actions: [],
      },
    ],
    store: { adapter: adapter.name },
    checkedAt: undefined,
  }
}
