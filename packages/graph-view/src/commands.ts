/** What an explanation, a finding or a screen offers. */
interface CommandAction {
  readonly verb:
    | ('pause' | 'resume' | 'cancel' | 'retry' | 'migrateRun' | 'retryStep' | 'skipStep' | 'giveUpStep')
    | ('retryCompensation' | 'skipCompensation' | 'signal' | 'approve' | 'reject')
    | ('limits.set' | 'limits.reset' | 'schedules.pause')
  readonly step?: string | undefined
  /** Of a move: where to. */
  readonly to?: string | undefined
}

/** What is typed for a reason that is still to be given: the command line refuses it. */
export const REASON_OPEN = '…'

/**
 * The command that does it, without `belay`. `about`: the run, limit or schedule, or a filter, as a shell takes it.
 */
export function commandText({ verb, step, to }: CommandAction, about: string): string {
  const of = step === undefined ? about : `${about} ${quoted(step)}`
  const reason = `--reason '${REASON_OPEN}'`
  switch (verb) {
    case 'pause':
    case 'resume':
      return `${verb} ${about}`
    case 'cancel':
    case 'retry':
      return `${verb} ${about} ${reason}`
    case 'migrateRun':
      return `move ${about}${to === undefined ? '' : ` --to ${to}`} --dry-run`
    case 'retryStep':
      return `retry ${of} ${reason}`
    case 'skipStep':
      return `skip ${of} ${reason}`
    case 'giveUpStep':
      return `undo give-up ${of} ${reason}`
    case 'retryCompensation':
      return `undo retry ${of} ${reason}`
    case 'skipCompensation':
      return `undo skip ${of} ${reason}`
    case 'signal':
      return `signal ${of} --data '{}'`
    case 'approve':
    case 'reject':
      return `${verb} ${of}`
    case 'limits.set':
    case 'limits.reset':
      return `${verb.replace('.', ' ')} ${about}`
    case 'schedules.pause':
      return `schedules pause ${about}`
  }
}

/** The flags that select the runs of a version. */
export function versionFlags(workflow: string, version: number): string {
  return `--workflow ${quoted(workflow)} --version ${version}`
}

/** As a shell takes it. */
export function quoted(word: string): string {
  return /^[\w:.@+/,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
