import {
  DEFINITION_NUMBERS_MAX,
  type DefinitionRecord,
  definitionNumber,
  type SavedDefinition,
} from '@belay/workflow/adapter'
import type { Identity, NewRun, NewRuns, StartedRun } from '@belay/workflow/store'
import { type MemoryStep, NO_TIMES, placeAt, type Rows } from './rows.ts'

/** Stores what is missing of definitions. */
export function define(rows: Rows, definitions: readonly DefinitionRecord[]): readonly SavedDefinition[] {
  return definitions.map((definition) => {
    const { name, version } = definition
    const known = [...rows.definitions.values()].find(
      (each) => each.name === name && each.version === version,
    )
    if (known !== undefined) return known
    for (let tries = 0; tries < DEFINITION_NUMBERS_MAX; tries += 1) {
      const id = definitionNumber(definition, tries)
      if (rows.definitions.has(id)) continue
      const saved: SavedDefinition = { ...structuredClone(definition), id }
      rows.definitions.set(id, saved)
      return saved
    }
    throw new Error(`Workflow ${name}@${version} has no number left.`)
  })
}

const runKey = (workflow: string, key: string): string => JSON.stringify([workflow, key])

export function start(rows: Rows, { runs, ...of }: NewRuns, owner?: Identity): readonly StartedRun[] {
  const owning = owner !== undefined && rows.isAlive(owner) ? owner.worker : null
  return runs.map((run) => startOne(rows, of, run, owning))
}

type Of = Omit<NewRuns, 'runs'>

function startOne(rows: Rows, of: Of, run: NewRun, owner: number | null): StartedRun {
  const { id, key, input, inputHash = null, priority = 0 } = run
  const { definition, workflow } = of
  const taken =
    rows.runs.get(id) ??
    (key === null ? undefined : rows.runs.get(rows.keys.get(runKey(workflow, key)) ?? ''))
  if (taken !== undefined) {
    const other = {
      id: taken.id,
      definition: taken.definition,
      input: taken.input,
      inputHash: taken.inputHash,
    }
    return { ...other, created: false, owned: false }
  }
  const now = rows.now()
  const due = run.startAt ?? now + (run.startDelayMs ?? 0)
  rows.runs.set(id, {
    ...{ id, definition, workflow, key, input, inputHash, priority, status: 'running', fence: 0 },
    ...{
      tags: run.tags ?? null,
      parent: run.parent ?? null,
      paused: false,
      parked: false,
      cause: null,
      state: null,
    },
    ...{ createdAt: now, startAt: due > now ? due : null, finishedAt: null },
    deadlineAt: run.deadlineMs === undefined ? null : Math.max(now, due) + run.deadlineMs,
  })
  if (key !== null) rows.keys.set(runKey(workflow, key), id)
  const owned = owner !== null && due <= now
  rows.live.set(id, {
    ...{ run: id, definition, owner: owned ? owner : null, fence: owned ? 1 : 0, begun: false, lost: false },
    ...{ due, lead: priority, place: placeAt(now, due, priority) },
  })
  rows.steps.set(id, new Map(of.steps.map((step) => [step.no, pending(step)])))
  return { id, created: true, owned, definition, input, inputHash }
}

const pending = ({ no, scope, name }: NewRuns['steps'][number]): MemoryStep => ({
  ...{
    no,
    scope,
    name,
    index: null,
    label: null,
    status: 'pending',
    round: 1,
    attempt: 0,
    failures: 0,
    losses: 0,
  },
  ...{ due: null, undo: null, state: null, item: null, output: null, error: null, undoError: null },
  ...{ times: NO_TIMES, undoTimes: NO_TIMES },
})
