import {
  type Adapter,
  type Claimed,
  leadOf,
  type NewRun,
  type StartedRun,
  type StepRecord,
  storedStatus,
} from '@belay/workflow/adapter'
import type { Dump, RunDump } from '../invariants/index.ts'

const MINUTE_MS = 60_000
/** Places nearer than this are the same, in milliseconds: stores round them. */
const SAME_MS = 1

type Report = (violation: string) => void

/** What a claim could have had: steps by `runId/step`, with their places. */
export interface Claimable {
  readonly definitionId: number
  readonly name: string
  readonly place: number
}

/** The steps that a claim may find now, with their places. */
export function claimable({ runs, queue }: Dump, now: number): readonly Claimable[] {
  const byRun = new Map(runs.map((found) => [found.run.runId, found]))
  return (queue ?? []).flatMap(({ runId, step, availableAt }) => {
    const found = byRun.get(runId)
    const row = found?.steps.find((other) => other.step === step)
    if (found === undefined || row === undefined || availableAt > now || !isClaimable(found, row)) return []
    return [{ definitionId: found.run.definitionId, name: `${runId}/${step}`, place: availableAt }]
  })
}

/**
 * Of one workflow, a claim takes the steps with the lowest places: none that it left has a lower place than one that it took. Between workflows it begins
 * with the one that has the lowest place of all; then it may go on with further steps of that one.
 */
export function checkClaim(
  before: readonly Claimable[],
  [{ definitionIds }]: Parameters<Adapter['claim']>,
  claimed: Claimed | 'lost',
  broken: Report,
): void {
  if (claimed === 'lost' || claimed.claims.length === 0) return
  const taken = new Set(claimed.claims.map(({ runId, step }) => `${runId}/${step}`))
  const wanted = before.filter(({ definitionId }) => definitionIds.includes(definitionId))
  const left = wanted.filter(({ name }) => !taken.has(name))
  const got = wanted.filter(({ name }) => taken.has(name))
  for (const { definitionId, name, place } of got) {
    const skipped = left.find((other) => other.definitionId === definitionId && other.place < place - SAME_MS)
    if (skipped !== undefined)
      broken(
        `${name} was claimed, whose place is ${place}, before ${skipped.name}, whose place is ${skipped.place}`,
      )
  }
  if (got.length === 0) return
  const first = Math.min(...got.map(({ place }) => place))
  const passed = left.find(({ place }) => place < first - SAME_MS)
  if (passed !== undefined)
    broken(`a claim began at place ${first} and left ${passed.name}, whose place is ${passed.place}`)
}

/** A run has the priority with which it was started. */
export function checkStarted(
  runs: readonly NewRun[],
  started: readonly StartedRun[],
  { runs: found }: Dump,
  broken: Report,
): void {
  for (const [index, { runId, created }] of started.entries()) {
    const run = created ? found.find((other) => other.run.runId === runId)?.run : undefined
    const asked = runs[index]!.priority ?? 0
    if (run !== undefined && (run.priority ?? 0) !== asked)
      broken(`run ${runId} has priority ${run.priority}, and was started with ${asked}`)
  }
}

/** The store's time, and by how much its clock was set back in all. */
interface PlacesAt {
  readonly now: number
  readonly backMs: number
}

/**
 * Nobody stands further forward than their priority allows, and so nothing starves: what becomes ready later than that comes behind. A step under limits
 * that was given its slots stands where its run began. Once the store's clock was set back, a step that returns to the queue may stand that much earlier.
 */
export function checkPlaces(dump: Dump, { now, backMs }: PlacesAt, broken: Report): void {
  const byRun = new Map(dump.runs.map((found) => [found.run.runId, found]))
  for (const { runId, step, availableAt: place } of dump.queue ?? []) {
    const found = byRun.get(runId)
    const row = found?.steps.find((other) => other.step === step)
    if (found === undefined || row === undefined || row.availableAt === null || !isClaimable(found, row))
      continue
    const { startAt, createdAt } = found.run
    const since = Math.min(row.availableAt, Math.max(createdAt, startAt ?? createdAt), now)
    const least = since - leadOf({ undoOf: row.undoOf, priority: row.priority }) * MINUTE_MS
    if (place < least - backMs - SAME_MS)
      broken(
        `step ${step} of run ${runId} stands at ${place} in the queue, and ${least} is the most for its priority`,
      )
  }
}

function isClaimable({ run }: RunDump, row: StepRecord): boolean {
  if (run.status === 'paused' || run.status === 'scheduled') return false
  if (row.status === 'ready' || (row.status === 'waiting' && row.availableAt !== null))
    return storedStatus(run.status) === 'running'
  return row.status === 'compensating' && row.workerId === null && row.openDependencies === 0
}
