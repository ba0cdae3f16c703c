import {
  type Adapter,
  type DefinitionShape,
  isItem,
  itemIndex,
  mapOf,
  type StepRecord,
} from '@belay/workflow/adapter'
import { isRelayIn } from './next-of-claim.ts'
import type { Held } from './today.ts'
import type { View } from './view.ts'

type ReadRun = NonNullable<Awaited<ReturnType<Adapter['readRun']>>>

export function viewOfToday(
  shape: DefinitionShape,
  { run, steps }: ReadRun,
  held: ReadonlyMap<string, Held>,
  attemptOf: (held: Held) => number,
): View {
  const asks = [...held].map(([name, each]) => {
    return [name, { phase: each.phase, attempt: attemptOf(each), round: each.claim.round }] as const
  })
  const rounds = steps.map((row) => [unitOf(shape, row.step), row.round] as const)
  return {
    run: RUN_WORDS[run.status] ?? run.status,
    units: unitsOf(shape, steps, run.cause !== null),
    asks: Object.fromEntries(asks.sort()),
    // Of a map, the round of its first step counts.
    rounds: Object.fromEntries(rounds.reverse()),
  }
}

/** The name of the unit of a row. */
export function unitOf({ steps }: DefinitionShape, row: number): string {
  if (!isItem(row)) return steps[row]!.name.replace('[]', '')
  return `${steps[mapOf(row)]!.name.replace('[]', '')}[${itemIndex(row)}]`
}

// Whether all that is open waits is for readers to tell.
const RUN_WORDS: Readonly<Record<string, string>> = { waiting: 'running' }

function unitsOf(
  shape: DefinitionShape,
  steps: readonly StepRecord[],
  isStopped: boolean,
): Readonly<Record<string, string>> {
  const units: Record<string, string> = {}
  const rows = withoutRelays(shape, steps).map((row) => (isStopped ? cancelledRow(row) : row))
  for (const row of rows) {
    if (isItem(row.step)) {
      units[unitOf(shape, row.step)] = row.status
    } else {
      const { kind, dependsOn } = shape.steps[row.step]!
      if (kind === 'map' || kind === 'repeat') continue
      const opener = kind === 'join' ? rows[dependsOn[0]!]! : undefined
      const isWhole = opener !== undefined && shape.steps[opener.step]!.compensateAll === true
      units[row.name] = opener === undefined ? row.status : joined(opener, row, isWhole)
    }
  }
  return units
}

/** What does not run in a stopped run is cancelled once it has drained: a pause defers that. */
function cancelledRow(row: StepRecord): StepRecord {
  return WAITS.has(row.status) ? { ...row, status: 'cancelled' } : row
}

const WAITS: ReadonlySet<string> = new Set(['pending', 'ready', 'waiting'])

/** A map or a loop is one unit: its first step until that has ended, and then its second. */
function joined(opener: StepRecord, join: StepRecord, isWhole: boolean): string {
  if (isWhole && opener.undoOf !== null) return opener.status
  if (opener.status !== 'completed') return opener.status
  return join.status === 'pending' ? 'running' : join.status
}

/** A step that only keeps the order of the undo has the status that it had. */
function withoutRelays(shape: DefinitionShape, steps: readonly StepRecord[]): readonly StepRecord[] {
  const isRelay = (row: StepRecord) => row.status === 'compensating' && isRelayIn(shape, steps, row.step)
  return steps.map((row) => (isRelay(row) ? { ...row, status: row.undoOf! } : row))
}
