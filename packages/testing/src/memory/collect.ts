import {
  CALL_IDS_MAX,
  type ChangedCollection,
  type CollectedCalls,
  type CollectedRun,
  collectCalls,
  type Gathered,
  type LockedCollection,
  missingDefinition,
  type NewCall,
  type NewRun,
  refusedStart,
} from '@belay/workflow/adapter'
import { changeStep } from './change.ts'
import { nameOfRun } from './change-within.ts'
import { enqueueAt } from './lease.ts'
import { refusalOf } from './payload.ts'
import type { CallRow, CollectionRow, Rows, RunRow, StepRow } from './rows.ts'
import { createRun } from './start.ts'
import type { MemoryTransaction } from './transaction.ts'

/** Collects calls: with `tx` when that commits. */
export function collectAll(
  rows: Rows,
  calls: readonly NewCall[],
  tx?: MemoryTransaction,
): readonly CollectedRun[] {
  tx?.assertOpen()
  checkCollectable(rows, calls)
  const answers = new Map<NewCall, CollectedRun>()
  for (const group of groupsOf(calls)) {
    const fresh = group.filter((call, index) => isNew(rows, call, group.slice(0, index), tx))
    if (fresh.length > 0) collectGroup(rows, fresh, answers, tx)
    for (const call of group) if (!answers.has(call)) answers.set(call, repeatedAnswer(rows, call, tx))
  }
  return calls.map((call) => answers.get(call)!)
}

/** The calls that a run carries. */
export function readCollected(rows: Rows, runId: string): CollectedCalls | null {
  const run = rows.runs.get(runId)
  const last = rows.callsOf.get(runId)?.at(-1)
  if (run === undefined || last === undefined) return null
  const collection = rows.collections.get(nameOf(last))
  const isCurrent = collection?.runId === runId && collection.dueAt > rows.now
  const collecting = isCurrent && takesCalls(run, last.definitionId)
  return { key: last.collectKey, calls: last.position, collecting }
}

/** The names that calls hold until their transaction ends. */
export function namesOfCalls(calls: readonly NewCall[]): readonly string[] {
  return calls.map((call) => `calls ${nameOf(call)}`)
}

/** The first run that a transaction has changed, and that has begun or was changed by somebody else meanwhile. */
export function begunRun(rows: Rows, tx: MemoryTransaction): string | undefined {
  return tx.joined.find(({ runId, definitionId }) => {
    const run = rows.runs.get(runId)
    return run === undefined || !takesCalls(run, definitionId)
  })?.runId
}

/** Stores what a transaction has collected, when it commits. Its runs are there already. */
export function applyCalls(rows: Rows, tx: MemoryTransaction): void {
  for (const { change } of tx.joined) changeRun(rows, change)
  for (const [name, collection] of tx.collections) rows.collections.set(name, collection)
  for (const call of tx.calls.values()) rows.addCall(call)
}

function checkCollectable(rows: Rows, calls: readonly NewCall[]): void {
  for (const call of calls) {
    if (!rows.definitions.has(call.definitionId)) throw missingDefinition(call)
    const refusal = refusalOf(call.input)
    if (refusal !== undefined) throw refusedStart(calls, refusal)
  }
}

function groupsOf(calls: readonly NewCall[]): Iterable<readonly NewCall[]> {
  const groups = new Map<string, NewCall[]>()
  for (const call of calls) {
    const group = groups.get(nameOf(call))
    if (group === undefined) groups.set(nameOf(call), [call])
    else group.push(call)
  }
  return groups.values()
}

function isNew(
  rows: Rows,
  { callId }: NewCall,
  before: readonly NewCall[],
  tx: MemoryTransaction | undefined,
): boolean {
  return findCall(rows, callId, tx) === undefined && before.every((other) => other.callId !== callId)
}

function findCall(rows: Rows, callId: string, tx: MemoryTransaction | undefined): CallRow | undefined {
  return tx?.calls.get(callId) ?? rows.calls.get(callId)
}

function collectGroup(
  rows: Rows,
  calls: readonly NewCall[],
  answers: Map<NewCall, CollectedRun>,
  tx: MemoryTransaction | undefined,
): void {
  const [first] = calls
  const name = nameOf(first!)
  const gathered = collectCalls(lockedCollection(rows, first!, tx), calls, rows.now)
  gathered.answers.forEach((answer, index) => {
    const { definitionId, input } = calls[index]!
    answers.set(calls[index]!, { ...answer, definitionId, input })
  })
  if (tx === undefined) store(rows, name, gathered)
  else keepWithin(rows, name, gathered, tx)
}

function store(rows: Rows, name: string, { opened, changed, places, collection }: Gathered): void {
  for (const run of opened) createRun(rows, run)
  for (const change of changed) changeRun(rows, change)
  rows.collections.set(name, collection)
  for (const place of places) rows.addCall(callRow(place))
}

function keepWithin(rows: Rows, name: string, gathered: Gathered, tx: MemoryTransaction): void {
  const { opened, changed, places, collection } = gathered
  const [{ call }] = places as readonly [Gathered['places'][number]]
  for (const run of opened) tx.runs.set(run.runId, run)
  for (const change of changed) {
    const own = tx.runs.get(change.runId)
    if (own === undefined) tx.joined.push({ runId: change.runId, definitionId: call.definitionId, change })
    else tx.runs.set(change.runId, changedStart(own, change))
    if (rows.runs.has(change.runId)) tx.hold([nameOfRun(change.runId)])
  }
  tx.collections.set(name, collection)
  for (const place of places) tx.calls.set(place.call.callId, callRow(place))
  tx.hold(namesOfCalls([call]))
}

/** The collection as the transaction sees it, with what matters of its run. */
function lockedCollection(
  rows: Rows,
  call: NewCall,
  tx: MemoryTransaction | undefined,
): LockedCollection | null {
  const found: CollectionRow | undefined =
    tx?.collections.get(nameOf(call)) ?? rows.collections.get(nameOf(call))
  if (found === undefined) return null
  const started = tx?.runs.get(found.runId)
  if (started !== undefined) return { ...found, takesCalls: true, tags: started.tags ?? [] }
  const run = rows.runs.get(found.runId)
  if (run === undefined) return { ...found, takesCalls: false, tags: [] }
  const joined = tx?.joined.findLast(({ runId }) => runId === found.runId)
  const tags = joined?.change.tags ?? run.tags
  return { ...found, takesCalls: takesCalls(run, call.definitionId), tags }
}

/** Whether none of its steps has begun, and nobody has stopped or changed it. */
function takesCalls(run: RunRow, definitionId: number): boolean {
  if (run.definition.saved.id !== definitionId || run.status !== 'running') return false
  return roots(run).every(isUntouched)
}

function roots({ steps, definition }: RunRow): readonly StepRow[] {
  return steps.filter((_, number) => definition.saved.shape.steps[number]!.dependsOn.length === 0)
}

function isUntouched({ status, openDependencies, startedAt, attempts }: StepRow): boolean {
  return status === 'ready' && openDependencies === 0 && startedAt === null && attempts === 0
}

/** Its fences grow, so that no claim has an earlier input. */
function changeRun(rows: Rows, change: ChangedCollection): void {
  const run = rows.runs.get(change.runId)!
  const { dueAt } = change
  const lateMs = run.deadlineAt === null ? null : run.deadlineAt - run.startAt!
  run.input = inputAfter(run.input, change)
  run.tags = [...change.tags]
  run.startAt = dueAt
  run.deadlineAt = lateMs === null ? null : dueAt + lateMs
  for (const row of roots(run)) {
    changeStep(run, row, { fence: row.fence + 1, availableAt: dueAt })
    enqueueAt(rows, { run, step: row }, dueAt)
  }
}

function changedStart(run: NewRun, change: ChangedCollection): NewRun {
  const { dueAt, tags } = change
  return {
    ...run,
    startAt: dueAt,
    tags: tags.length === 0 ? undefined : tags,
    input: inputAfter(run.input, change),
  }
}

function inputAfter(before: string | null, { input, items = [] }: ChangedCollection): string | null {
  if (input !== undefined) return input.text
  return items.length === 0 ? before : `${before!.slice(0, -1)},${items.join(',')}]`
}

function repeatedAnswer(rows: Rows, call: NewCall, tx: MemoryTransaction | undefined): CollectedRun {
  const { runId, position, inputHash } = findCall(rows, call.callId, tx)!
  const stored = rows.runs.get(runId)
  const beginsAt = tx?.runs.get(runId)?.startAt ?? stored?.startAt ?? rows.now
  const definitionId = stored?.definition.saved.id ?? call.definitionId
  const { version } = rows.definitions.get(definitionId)!.saved
  const run = { runId, definitionId, version, input: call.input, inputHash, created: false }
  return { ...run, position, beginsAt, due: beginsAt <= rows.now, repeated: true }
}

function callRow({ call, runId, position }: Gathered['places'][number]): CallRow {
  const { callId, definitionId, collectKey, inputHash = null, policy } = call
  const keptMax = policy.mode === 'batch' ? Number.POSITIVE_INFINITY : CALL_IDS_MAX
  return { callId, runId, position, inputHash, definitionId, collectKey, keptMax }
}

function nameOf({ definitionId, collectKey }: Pick<CallRow, 'definitionId' | 'collectKey'>): string {
  return `${definitionId} ${collectKey}`
}
