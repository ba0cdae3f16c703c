import { type RunsMatching, statusesIn } from '@belay/workflow'
import { type Duration, durationMs } from '@belay/workflow/adapter'
import { misused } from '../cli-error.ts'
import type { Store } from '../store/store.ts'
import { FILTERS, type FlagsGiven } from '../table/flags.ts'

/** Whether a call selects runs by a filter. */
export function hasFilter(flags: FlagsGiven): boolean {
  return FILTERS.some((name) => flags[name] !== undefined)
}

/** The filter that these flags make. `since` and `until` mean creation, or the end with `byEnd`. */
export async function filterOf(
  store: Store,
  flags: FlagsGiven,
  { byEnd = false }: { readonly byEnd?: boolean } = {},
): Promise<RunsMatching> {
  const { workflow, version, status, tag, key, since, until } = flags
  const waitingFor = flags['waiting-for']
  const [from, to] = [await instantOf(store, 'since', since), await instantOf(store, 'until', until)]
  return {
    ...(workflow === undefined ? {} : { workflow }),
    ...(version === undefined ? {} : { version }),
    ...(status === undefined ? {} : { status: statusesIn(status) }),
    ...(tag === undefined ? {} : { tags: tag }),
    ...(key === undefined ? {} : keyOrPrefix(key)),
    ...(waitingFor === undefined ? {} : { waitingFor: limitLine(waitingFor) }),
    ...(from === undefined ? {} : byEnd ? { finishedAfter: from } : { createdAfter: from }),
    ...(to === undefined ? {} : byEnd ? { finishedBefore: to } : { createdBefore: to }),
  }
}

/** `order:91*` is about all keys that begin so, as in the dashboard. */
function keyOrPrefix(text: string): Pick<RunsMatching, 'key' | 'keyPrefix'> {
  return text.length > 1 && text.endsWith('*') ? { keyPrefix: text.slice(0, -1) } : { key: text }
}

function limitLine(text: string): { limit: string; key?: string } {
  const slash = text.indexOf('/')
  return slash < 0 ? { limit: text } : { limit: text.slice(0, slash), key: text.slice(slash + 1) }
}

/** An age before the store's now, or an instant. */
async function instantOf(store: Store, flag: string, text: string | undefined): Promise<Date | undefined> {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?\s*[a-z]+$/i.test(text)) {
    return new Date((await store.now()).getTime() - durationMs(text as Duration, `--${flag}`))
  }
  const at = new Date(text)
  if (!Number.isNaN(at.getTime())) return at
  throw misused(`--${flag}: "${text}" is neither an age like 2h nor an instant like 2026-03-01T09:00Z.`)
}
