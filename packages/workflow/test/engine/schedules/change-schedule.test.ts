import { describe, expect, it } from 'vitest'
import type { FoundSchedule, ScheduleRecord } from '../../../src/adapter/index.ts'
import { putChange, UNDECLARED } from '../../../src/engine/schedules/change-schedule.ts'

const spec = {
  ...({ version: null, overlap: 'skip', catchUp: 'all', jitterMs: 0, until: null } as const),
  ...{ tags: [], timeAs: null, declared: true },
}
const everySecond = { cron: '* * * * * *', timeZone: 'UTC' } as const
const everyThird = { cron: '*/3 * * * * *', timeZone: 'UTC' } as const

describe('a schedule that is put after the clock was set back', () => {
  // All times up to 10 s were dealt with. Then the clock went back by six.
  const stored: ScheduleRecord = {
    ...{ name: 's', workflow: 'w', input: null, spec: { ...spec, timing: everySecond } },
    ...{ pausedAt: null, pauseReason: null, nextAt: 11_000, dueAt: 11_000 },
    ...{ revision: 9, firings: 9, createdAt: 1_000, updatedAt: 10_000 },
  }
  const found = (schedule: ScheduleRecord): FoundSchedule => ({ name: 's', schedule, open: [], now: 4_000 })
  const wanted = { name: 's', workflow: 'w', input: null }

  it('with another timing has no time that may have been dealt with', () => {
    const change = putChange(found(stored), { ...wanted, spec, timing: everyThird })

    expect(change!.schedule).toMatchObject({ nextAt: 12_000 })
  })

  it('that is declared again has no time that may have been dealt with', () => {
    const undeclared = { ...stored, pausedAt: 10_000, pauseReason: UNDECLARED }

    const change = putChange(found(undeclared), { ...wanted, spec, timing: everySecond })

    expect(change!.schedule).toMatchObject({ nextAt: 11_000 })
  })
})
