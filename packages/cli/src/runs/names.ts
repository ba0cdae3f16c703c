import type { RunSummary } from '@belay/workflow'
import { type CliError, misused, refused } from '../cli-error.ts'
import type { Store } from '../store/store.ts'
import { SHAPES } from '../terminal/shapes.ts'
import { safe } from '../terminal/text.ts'
import { moment } from '../terminal/time.ts'

export const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i
export const PREFIX = /^[0-9a-f]{8}[0-9a-f-]*$/i
const LISTED = 8

/**
 * The run that a name means: an id, the first 8 digits of one or more, `workflow/key`, or a key if one workflow has it. Throws a `CliError`: 1 if there
 * is none, 2 if there are several.
 */
export async function runNamed(store: Store, name: string): Promise<RunSummary> {
  const found = await candidates(store, name)
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw notFound(name)
  throw several(name, found)
}

async function candidates({ engine }: Store, name: string): Promise<readonly RunSummary[]> {
  if (PREFIX.test(name)) {
    const found = await engine.runs.list({ idPrefix: name, limit: LISTED + 1 })
    if (found.length > 0 || ID.test(name)) return found
  }
  const slash = name.indexOf('/')
  if (slash > 0) {
    const named = await engine.runs.list({
      workflow: name.slice(0, slash),
      key: name.slice(slash + 1),
      limit: 2,
    })
    if (named.length > 0) return named
  }
  return engine.runs.list({ key: name, limit: LISTED + 1 })
}

function notFound(name: string): CliError {
  if (!PREFIX.test(name)) {
    return refused(`No run has the key ${JSON.stringify(safe(name))}.`, 'list')
  }
  const at = new Date(Number.parseInt(name.replaceAll('-', '').slice(0, 8).padEnd(12, '0'), 16))
  return refused(`No run begins with ${name}. Its time is ${moment(at, new Date(), { utc: true })}.`, 'list')
}

function several(name: string, found: readonly RunSummary[]): CliError {
  const isPrefix = PREFIX.test(name)
  const short = shortIds(found.map(({ id }) => id))
  const count = found.length > LISTED ? `More than ${LISTED}` : String(found.length)
  const lines = found.slice(0, LISTED).map(({ id, workflow, key, status }) => {
    const what = isPrefix ? (key ?? workflow) : workflow
    return `  ${short(id)}  ${safe(what)}  ${SHAPES[status].shape} ${status}`
  })
  const head = isPrefix ? `${count} runs begin with ${name}.` : `${count} runs have the key ${safe(name)}.`
  return misused([`${head} Name one:`, ...lines, ...(found.length > LISTED ? ['  …'] : [])].join('\n'))
}

/** How a command names a run: by its key if a shell and our flags leave it alone, else by its whole id. Runs that were started in one millisecond have the first digits in common. */
export function nameOf({ id, key }: Pick<RunSummary, 'id' | 'key'>): string {
  return key !== undefined && /^[\w:.@+][\w:.@+-]{0,59}$/.test(key) && !PREFIX.test(key) ? key : id
}

/** Twelve digits and a dash: the millisecond of its start. */
const SHORT = 13

/** Shows ids as short as they can be told apart, 12 digits at least. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  let length = SHORT
  const unique = new Set(ids).size
  while (length < 36 && new Set(ids.map((id) => id.slice(0, length))).size < unique) length += 1
  return (id) => id.slice(0, length).replace(/-$/, '')
}
