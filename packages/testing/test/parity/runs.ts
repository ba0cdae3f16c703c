import {
  countItems,
  type DatedRun,
  groupOf,
  type ItemsToRead,
  isItem,
  type JsonText,
  type StepRecord,
} from '@belay/workflow/adapter'
import { recordsOf, shownRun } from '../../../workflow/src/engine/owned/records.ts'
import { specOfShape } from '../../../workflow/src/machine/spec-of-shape.ts'
import { codeOf, readRun } from '../../../workflow/src/owner/index.ts'
import { itemsOfEachStatus } from '../../src/memory/items-of-each-status.ts'
import type { MemoryRun, MemoryStep, Rows } from '../../src/store/rows.ts'

/** A run as people read it. */
export interface View {
  readonly row: MemoryRun
  readonly run: DatedRun
  readonly steps: readonly StepRecord[]
}

export function viewOf(rows: Rows, id: string): View | null {
  const row = rows.runs.get(id)
  if (row === undefined) return null
  const saved = rows.definitions.get(row.definition)!
  const code = codeOf(saved.id, saved.name, specOfShape(saved.shape))
  const run = readRun(code, rows.owned(id, true))
  const units = rows.steps.get(id)!
  const owner = rows.live.get(id)?.owner ?? null
  const steps = recordsOf({
    run,
    shape: saved.shape,
    keptOf: (no) => keptOf(units.get(no)!),
    workerId: owner === null ? null : (rows.workers.get(owner)?.id ?? null),
  })
  const { workflow, key, input, cause, createdAt, finishedAt, startAt, deadlineAt, tags, parent, priority } =
    row
  return {
    row,
    steps,
    run: {
      ...{ runId: id, workflow, version: saved.version, definitionId: saved.id, key, input, cause },
      ...{ createdAt, finishedAt, startAt, deadlineAt, tags: tags ?? [], readAt: rows.now() },
      status: shownRun(row, steps, rows.now()),
      parent: parent == null ? null : { runId: parent.run, step: stepOf(rows, parent) },
      ...(priority === 0 ? {} : { priority }),
    },
  }
}

/** The number that the step of a unit has in its definition. */
function stepOf(rows: Rows, { run, unit }: NonNullable<MemoryRun['parent']>): number | null {
  if (unit === null) return null
  const found = viewOf(rows, run)
  const step = rows.steps.get(run)?.get(unit)
  if (found === null || step === undefined) return null
  const shape = rows.definitions.get(found.row.definition)!.shape
  if (step.name !== null) return shape.steps.findIndex(({ name }) => name === step.name)
  const opener = rows.steps.get(run)!.get(step.scope)!
  return found.steps.find(
    ({ itemKey, name }) => itemKey !== undefined && name === `${opener.name}[${step.label}]`,
  )!.step
}

function keptOf({ output, error, undoError, times, undoTimes }: MemoryStep) {
  const { startedAt, finishedAt } = times
  return {
    ...{ output, error, undoError, startedAt, finishedAt },
    undoStartedAt: undoTimes.startedAt,
    undoFinishedAt: undoTimes.finishedAt,
  }
}

/** A text that changes when one of these steps does. */
export function printOf(steps: readonly StepRecord[]): string {
  return steps
    .map(({ status, fence, failures, losses, undo }) =>
      [status, fence, failures, losses, undo?.failures, undo?.losses].join(':'),
    )
    .join()
}

export function partOf({ run, steps }: View, items: ItemsToRead | undefined) {
  const read = { run, values: [] }
  if (items === undefined) return { ...read, steps }
  const others = steps.filter(({ step }) => !isItem(step))
  const all = steps.filter(({ step }) => isItem(step))
  if (items === 'none') return { ...read, steps: others }
  if ('known' in items) {
    const before = new Map(items.known.map(({ first, print }) => [first, print]))
    const groups = new Set([...before.keys(), ...all.map(({ step }) => groupOf(step))])
    const differing = [...groups]
      .map((first) => ({ first, print: printOf(all.filter(({ step }) => groupOf(step) === first)) }))
      .filter(({ first, print }) => first > items.after && (before.get(first) ?? '') !== print)
      .sort((one, other) => one.first - other.first)
    const prints = differing.slice(0, items.groupsMax)
    const shown = new Set(prints.map(({ first }) => first))
    const found = all.filter(({ step }) => shown.has(groupOf(step)))
    const output = (step: StepRecord): JsonText => (items.outputs ? step.output : null)
    return {
      ...read,
      steps: [...others, ...found.map((step) => ({ ...step, output: output(step) }))],
      differing: { prints, more: differing.length > items.groupsMax },
    }
  }
  if ('eachStatusMax' in items)
    return { ...read, steps: [...others, ...itemsOfEachStatus(steps, items)], itemCounts: countItems(steps) }
  const page = all.filter(({ step }) => step > items.after && step < items.before).slice(0, items.limit)
  return { ...read, steps: [...others, ...page], itemCounts: countItems(steps) }
}
