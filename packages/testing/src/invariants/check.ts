import { checkArgument, type Kind, Refusal, type SavedDefinition, shown } from '@belay/workflow/adapter'
import type { Dump, RunDump } from './dump.ts'
import { forwardFacts } from './forward.ts'
import { queueFacts } from './queue.ts'
import { rowFacts } from './rows.ts'
import { runFacts } from './run.ts'
import { undoFacts } from './undo.ts'
import { type Reporter, viewOf } from './view.ts'

/** A broken invariant. */
export interface Violation {
  /** The invariant's name. */
  readonly invariant: string
  readonly message: string
  readonly runId?: string | undefined
  /** The step's number. */
  readonly step?: number | undefined
}

/** Looks for violations of what must hold between any two verbs. Does not check what the dump omits, such as the queue of an SQL store. */
export function checkInvariants(source: Dump | { dump(): Dump }): readonly Violation[] {
  return checkDump(checkArgument('checkInvariants()', 'the store', source, DUMP), checkRun)
}

/** A check for one dump after another of one store. A run that is the same object as before, with the same definition, is not checked again. */
export function repeatedCheck(): (dump: Dump) => readonly Violation[] {
  const known = new WeakMap<RunDump, { definition: Definition; violations: readonly Violation[] }>()
  return (dump) =>
    checkDump(dump, (definition, run) => {
      const before = known.get(run)
      if (before !== undefined && before.definition === definition) return before.violations
      const violations = checkRun(definition, run)
      known.set(run, { definition, violations })
      return violations
    })
}

type Definition = SavedDefinition | undefined

function checkDump(
  dump: Dump,
  check: (definition: Definition, run: RunDump) => readonly Violation[],
): readonly Violation[] {
  const violations = dump.runs.flatMap((run) =>
    check(
      dump.definitions.find(({ id }) => id === run.run.definitionId),
      run,
    ),
  )
  queueFacts(dump, (invariant, message, at) => violations.push({ invariant, message, ...at }))
  const known = new Set(dump.runs.map(({ run }) => run.runId))
  for (const { what, runId } of dump.told ?? []) {
    if (known.has(runId)) continue
    violations.push({
      invariant: 'told_of_a_run',
      message: `there are ${what} of a run that does not exist.`,
      runId,
    })
  }
  return violations
}

/** Throws an error that lists every violation, if there are any. */
export function assertInvariants(source: Dump | { dump(): Dump }): void {
  const violations = checkInvariants(source)
  if (violations.length === 0) return
  const lines = violations.map(
    ({ invariant, message, runId, step }) => `- ${invariant}: run ${runId} step ${step}: ${message}`,
  )
  throw new Error(`${violations.length} broken invariants:\n${lines.join('\n')}`)
}

const DUMP: Kind<Dump> = {
  words: 'a store with dump(), or what that returns',
  read(given) {
    const dump = 'dump' in (given as object) ? (given as { dump(): Dump }).dump() : (given as Dump)
    return Array.isArray(dump.runs) && Array.isArray(dump.definitions) ? dump : new Refusal(shown(given))
  },
}

function checkRun(definition: Definition, run: RunDump): readonly Violation[] {
  const { runId, definitionId } = run.run
  if (definition === undefined) {
    return [{ invariant: 'definition_exists', message: `definition ${definitionId} is unknown.`, runId }]
  }
  const violations: Violation[] = []
  const report: Reporter = (invariant, message, step) => violations.push({ invariant, message, runId, step })
  const view = viewOf(definition, run)
  if (view === undefined) {
    report('steps_are_those_of_the_definition', `it has ${run.steps.length} steps.`)
    return violations
  }
  for (const facts of [rowFacts, runFacts, forwardFacts, undoFacts]) facts(view, report)
  return violations
}
