import { empty } from '../machine/changes.ts'
import { type Changes, fresh, type Run, type RunRow, type Spec, start } from '../machine/index.ts'
import type { NewRuns } from '../store/index.ts'

/** A definition of which a worker has the code. */
export interface Code extends Pick<NewRuns, 'definition' | 'workflow' | 'steps'> {
  readonly spec: Spec
  /** The row of a run that nobody has begun. */
  readonly fresh: RunRow
}

export function codeOf(definition: number, workflow: string, spec: Spec): Code {
  const { run, rows } = start('', spec).commit
  const root = run!
  const steps = rows.map(({ no, scope, key }) => ({ no, scope: scope!, name: String(key) }))
  return { definition, workflow, spec, steps, fresh: root }
}

/** A run that nobody has begun. `out` is needed meanwhile, and as it was afterwards. */
export function freshRun(
  { spec, fresh: { born, ends, root } }: Code,
  known: Pick<RunRow, 'id' | 'parent' | 'deadlineAt' | 'priority' | 'paused' | 'parked'>,
  out: Changes,
): Run {
  const run = fresh(known.id, spec, out, known)
  run.known = { ...known, born, ends, root }
  empty(out)
  return run
}
