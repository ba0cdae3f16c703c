import type { CallerTransaction, FiringRecord, ScheduleRecord } from '../../adapter/index.ts'
import { StoreContendedError } from '../../errors.ts'
import { anything, checkOptions, type OptionTable, oneOf } from '../../options/index.ts'
import { planFirings } from './plan-firing.ts'
import { RunPreparer } from './prepare-runs.ts'
import { type SchedulesParts, unknownSchedule } from './schedule-parts.ts'
import { type ScheduleFiring, scheduleFiring } from './schedule-snapshot.ts'

export interface TriggerOptions {
  /** Instead of the schedule's `overlap`. */
  readonly overlap?: 'skip' | 'queue' | 'cancel-running' | 'allow' | undefined
  /** The caller's open transaction on the engine's database: the schedule fires once it commits. */
  readonly tx?: CallerTransaction | undefined
}

const OPTIONS = {
  overlap: {
    sets: 'what happens if an earlier run is live',
    takes: oneOf(['skip', 'queue', 'cancel-running', 'allow']),
  },
  tx: { sets: 'the transaction that the firing is part of', takes: anything },
} satisfies OptionTable

/** How often the schedule may change between looking at it and firing it. */
const TRIES_MAX = 5

export async function trigger(
  parts: SchedulesParts,
  name: string,
  options: TriggerOptions,
): Promise<ScheduleFiring> {
  const { overlap, tx } = checkOptions('schedules.trigger()', options, OPTIONS)
  const { adapter } = parts
  if (tx === undefined) await adapter.open()
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { schedule, now } = await lookAt(parts, 'schedules.trigger()', name, tx)
    const firing = { scheduledAt: now, cause: 'trigger' as const }
    const run = await new RunPreparer(parts, tx).runOf(schedule, now, 'trigger')
    const { answers, started, cancelled } = await adapter.changeSchedules<FiringRecord | null>(
      {
        names: [name],
        decide: (found) => {
          if (found.schedule?.revision !== schedule.revision) return { change: null, answer: null }
          const { change, reports } = planFirings({
            found: { ...found, schedule: found.schedule },
            firings: [{ ...firing, run, refusal: null }],
            waiting: new Map(),
            overlap: overlap ?? schedule.spec.overlap,
          })
          return { change, answer: reports.at(-1)! }
        },
      },
      { tx },
    )
    const fired = answers[0]!.answer
    if (fired === null) continue
    if (tx === undefined) {
      parts.onStarted(started)
      parts.onCancelled(cancelled)
      parts.onChanged()
    }
    return scheduleFiring(fired)
  }
  throw new StoreContendedError(
    `schedules.trigger(): schedule ${JSON.stringify(name)} changed ${TRIES_MAX} times meanwhile. Nothing was written.`,
    { remedy: 'Try again.' },
  )
}

/** A schedule as its next change will find it; in a transaction, with that transaction's own changes. */
export async function lookAt(
  { adapter }: Pick<SchedulesParts, 'adapter'>,
  call: string,
  name: string,
  tx?: unknown,
): Promise<{ readonly schedule: ScheduleRecord; readonly now: number }> {
  if (tx === undefined) {
    const { schedules, now } = await adapter.readSchedules({ names: [name], limit: 1 })
    if (schedules[0] === undefined) throw unknownSchedule(call, name)
    return { schedule: schedules[0], now }
  }
  const { answers } = await adapter.changeSchedules(
    {
      names: [name],
      decide: ({ schedule, now }) => {
        if (schedule === null) throw unknownSchedule(call, name)
        return { change: null, answer: { schedule, now } }
      },
    },
    { tx },
  )
  return answers[0]!.answer
}
