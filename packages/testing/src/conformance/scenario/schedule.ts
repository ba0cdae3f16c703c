import type { FoundSchedule, NewRun, ScheduleChange, ScheduleRecord } from '@belay/workflow/adapter'
import type { Graph } from './graph.ts'
import { completed } from './outcomes.ts'
import type { Scenario } from './scenario.ts'

export const SPEC: ScheduleRecord['spec'] = {
  timing: { cron: '0 3 * * *', timeZone: 'Europe/Zurich' },
  version: null,
  overlap: 'skip',
  catchUp: 'last',
  jitterMs: 0,
  until: null,
  tags: [],
  timeAs: null,
  declared: false,
}

export function record(name: string, given: Partial<ScheduleRecord> = {}): ScheduleRecord {
  const nothing = { pausedAt: null, pauseReason: null, nextAt: null, dueAt: null, input: null }
  return {
    name,
    workflow: 'w',
    spec: SPEC,
    ...nothing,
    revision: 0,
    firings: 0,
    createdAt: 0,
    updatedAt: 0,
    ...given,
  }
}

export function putting(name: string, given: Partial<ScheduleRecord> = {}): ScheduleChange {
  return { schedule: record(name, given), firings: [], starts: [], cancels: [] }
}

export function put(given: Scenario, name: string, schedule: Partial<ScheduleRecord> = {}): Promise<unknown> {
  return change(given, name, putting(name, schedule))
}

export function change(given: Scenario, name: string, made: ScheduleChange) {
  return given.adapter.changeSchedules({ names: [name], decide: () => ({ change: made, answer: null }) })
}

export function fire(given: Scenario, name: string, run: NewRun, cancels: readonly string[] = []) {
  return given.adapter.changeSchedules({
    names: [name],
    decide: (found) => ({ change: { ...firing(found, run), cancels }, answer: null }),
  })
}

export function firing({ schedule }: FoundSchedule, run: NewRun): ScheduleChange {
  const sequence = schedule!.firings + 1
  const times = { scheduledAt: 1_000, untilAt: null, decidedAt: 2_000 }
  const started = {
    sequence,
    ...times,
    cause: 'time',
    status: 'started',
    runId: run.runId,
    reason: null,
  } as const
  return {
    schedule: { ...schedule!, firings: sequence },
    firings: [{ ...started, isOpen: true }],
    starts: [run],
    cancels: [],
  }
}

export function newRun(given: Scenario, graph: Graph, key: string): NewRun {
  return { runId: given.ids.runId(), definitionId: graph.id, workflow: graph.name, key, input: null }
}

export async function look(given: Scenario, name: string): Promise<FoundSchedule> {
  const { answers } = await given.adapter.changeSchedules({
    names: [name],
    decide: (found) => ({ change: null, answer: found }),
  })
  return answers[0]!.answer
}

export async function names(given: Scenario, filter: Parameters<Scenario['adapter']['readSchedules']>[0]) {
  return (await given.adapter.readSchedules(filter)).schedules.map(({ name }) => name)
}

/** What a worker of this graph claims, with how to complete it. */
export async function worker(given: Scenario, graph: Graph) {
  const own = await given.worker()
  const claimed = await given.adapter.claim({ workerId: own.id, definitionIds: [graph.id], limit: 10 })
  if (claimed === 'lost') throw new Error('The worker was lost.')
  return claimed.claims.map((claim) => ({ settle: () => own.settle([completed(claim)]) }))
}
