import { expect, it } from 'vitest'
import type { Attempt } from '../../src/engine/attempt/attempt.ts'
import { AttemptReports } from '../../src/engine/attempt/attempt-reports.ts'
import { Context } from '../../src/engine/base/context.ts'
import { EventHub } from '../../src/engine/base/events.ts'
import { systemRuntime } from '../../src/engine/base/runtime.ts'
import { define } from '../../src/index.ts'
import { silentLogger } from '../../src/logger.ts'

const definition = define('order', { version: 1 }).step('charge', { run: () => {} })

it('an attempt that was released before it began has lasted for 0 ms', () => {
  const context = new Context()
  const events = new EventHub(silentLogger, context)
  const runtime = { ...systemRuntime, clock: { ...systemRuntime.clock, now: () => 1_000_005 }, context }
  const reports = new AttemptReports({ workerId: 'w', runtime, log: silentLogger, events })
  const durations: number[] = []
  events.on('step.released', ({ durationMs }) => durations.push(durationMs))

  for (const startedAt of [0, 1_000_000]) {
    const ref = { runId: 'r', step: 0, fence: 1, direction: 'forward', definitionId: 1 } as const
    const attempt = {
      claim: { ...ref, attempt: 1 },
      definition,
      step: { name: 'charge' },
      startedAt,
    } as unknown as Attempt
    reports.settled(attempt, { ...ref, type: 'released', begun: false })
  }

  expect(durations).toEqual([0, 5])
})
