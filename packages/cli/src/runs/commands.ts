import type { OfferedAction, RunSummary } from '@belay/workflow'
import { nameOf } from './names.ts'

/** What is typed for a reason that is still to be given: it is refused. */
export const REASON_OPEN = '…'

/** The run that an action is about, or how a filter selects its runs. */
type About = Pick<RunSummary, 'id' | 'key'> | { readonly filter: string }

/**
 * The command that does what an explanation or a finding offers, without `belay`, filled in for this run and step; undefined for what the command line
 * does not do.
 */
export function commandFor(action: OfferedAction, about: About): string | undefined {
  const { verb, step, run } = action
  const named = namedBy(run, about)
  const of = step === undefined ? named : `${named} ${quoted(step)}`
  const reason = `--reason '${REASON_OPEN}'`
  switch (verb) {
    case 'pause':
    case 'resume':
      return `${verb} ${named}`
    case 'cancel':
    case 'retry':
      return `${verb} ${named} ${reason}`
    case 'migrateRun':
      return `move ${named} --dry-run`
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
      return `${verb.replace('.', ' ')} ${named}`
    case 'schedules.pause':
      return `schedules pause ${named}`
    // Only in development mode, in the process of the developer.
    case 'dropForgotten':
      return undefined
  }
}

function namedBy(run: string | undefined, about: About): string {
  if ('id' in about && (run ?? about.id) === about.id) return nameOf(about)
  if (run !== undefined) return nameOf({ id: run, key: undefined })
  return 'filter' in about ? about.filter : nameOf(about)
}

/** As a shell takes it. */
export function quoted(word: string): string {
  return /^[\w:.@+/[\],-]+$/.test(word) && !/[[\]]/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
