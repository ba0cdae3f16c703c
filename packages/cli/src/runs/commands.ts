import { commandText } from '@belay/graph-view'
import type { OfferedAction, RunSummary } from '@belay/workflow'
import { nameOf } from './names.ts'

/** The run that an action is about, or how a filter selects its runs. */
type About = Pick<RunSummary, 'id' | 'key'> | { readonly filter: string }

/**
 * The command that does what an explanation or a finding offers, without `belay`, filled in for this run and step; undefined for what the command line
 * does not do.
 */
export function commandFor({ verb, step, run }: OfferedAction, about: About): string | undefined {
  // Only in development mode, in the process of the developer.
  if (verb === 'dropForgotten') return undefined
  return commandText({ verb, step }, namedBy(run, about))
}

function namedBy(run: string | undefined, about: About): string {
  if ('id' in about && (run ?? about.id) === about.id) return nameOf(about)
  if (run !== undefined) return nameOf({ id: run, key: undefined })
  return 'filter' in about ? about.filter : nameOf(about)
}
