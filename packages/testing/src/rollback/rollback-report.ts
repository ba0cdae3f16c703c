import type { RunStatus } from '@belay/workflow/adapter'

/** One run, in which one step failed. */
export interface RollbackRun {
  /** The step that failed; of a map the last item, of a loop the last round, of a child its last step. */
  readonly step: string
  /** `before`: it had no effect. `after`: it had its effect, but did not complete. */
  readonly failed: 'before' | 'after'
  readonly status: RunStatus
  /** Effects that the run left behind: where the world differs, or, without `effects`, the steps that were not undone. */
  readonly leftBehind: readonly string[]
  /** Why the effects of this run were not judged: it went on, or it may keep them. */
  readonly unjudged: string | undefined
}

export interface RollbackFindings {
  readonly workflow: string
  readonly runs: readonly RollbackRun[]
  /** Steps that completed, and have neither a compensation nor `irreversible`. */
  readonly unprotected: readonly string[]
  /** Steps that did not run with this input. */
  readonly unreached: readonly string[]
  /** Whether the world itself was compared. Then a step without a compensation is only wrong if it leaves something behind. */
  readonly comparedWorld: boolean
}

/** What `checkRollback()` found. */
export class RollbackReport implements RollbackFindings {
  readonly workflow: string
  readonly runs: readonly RollbackRun[]
  readonly unprotected: readonly string[]
  readonly unreached: readonly string[]
  readonly comparedWorld: boolean

  constructor({ workflow, runs, unprotected, unreached, comparedWorld }: RollbackFindings) {
    this.workflow = workflow
    this.runs = runs
    this.unprotected = unprotected
    this.unreached = unreached
    this.comparedWorld = comparedWorld
  }

  /** Whether no run left effects behind, and every undo could be carried out. */
  get ok(): boolean {
    const isProtected = this.comparedWorld || this.unprotected.length === 0
    return isProtected && this.runs.every((run) => !isBad(run))
  }

  toString(): string {
    const bad = this.runs.filter(isBad)
    const runs = `${this.runs.length} ${this.runs.length === 1 ? 'run' : 'runs'}`
    const head = `Rollback of "${this.workflow}": ${runs}, ${bad.length === 0 ? 'all undone' : `${bad.length} not undone`}.`
    return [
      head,
      ...bad.flatMap(linesOf),
      ...this.runs.filter(({ unjudged }) => unjudged !== undefined).map(unjudgedLine),
      ...namesLine('Completed, with neither a compensation nor `irreversible`', this.unprotected),
      ...namesLine('Not reached with this input', this.unreached),
    ].join('\n')
  }
}

function isBad({ leftBehind, status }: RollbackRun): boolean {
  return leftBehind.length > 0 || status === 'compensation_failed'
}

function linesOf(run: RollbackRun): readonly string[] {
  const ended = run.status === 'compensation_failed' ? ': its undo failed' : ' leaves behind:'
  const hint =
    run.failed === 'after'
      ? [`    If "${run.step}" may fail after its effect, give it compensateOn: 'started'.`]
      : []
  return [`  ✗ ${titleOf(run)}${ended}`, ...run.leftBehind.map((one) => `    ${one}`), ...hint]
}

function unjudgedLine(run: RollbackRun): string {
  return `  – ${titleOf(run)}: not judged, because ${run.unjudged}.`
}

function titleOf({ step, failed }: RollbackRun): string {
  return `"${step}" failing ${failed === 'before' ? 'before' : 'after'} its effect`
}

function namesLine(title: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`  ${title}: ${names.join(', ')}.`]
}
