import { type Duration, durationMs, type RunsMatching, statusesIn } from '@belay/workflow'
import type { RunsQuery } from './api.ts'
import { grouped } from './grouped.ts'
import { badRequest } from './problem.ts'
import { checkedQuery, onlyOne, wholeNumber } from './query.ts'

/** What selects runs, beside their status. */
export const MATCHING = [
  'workflow',
  'version',
  'key',
  'tag',
  'parent',
  'waits',
  'since',
  'until',
] as const satisfies readonly (keyof RunsQuery)[]

type Query = Readonly<Partial<Record<(typeof MATCHING)[number] | 'status', readonly string[]>>>

/** The runs of a page of Runs, by its query as text. Throws `RequestError` for what that page would not take either. */
export function matchingText(query: string): RunsMatching {
  const given = [...grouped([...new URLSearchParams(query)], ([name]) => name)]
  const values = given.map(([name, pairs]) => [name, pairs.map(([, value]) => value)] as const)
  return matching(checkedQuery(Object.fromEntries(values), [...MATCHING, 'status']))
}

/** Throws `RequestError` for values of the wrong form. */
export function matching(query: Query): RunsMatching {
  return {
    ...given('status', query.status && statusesIn(query.status)),
    ...given('workflow', query.workflow),
    ...given('version', wholeNumber('version', onlyOne('version', query.version))),
    ...keyed(onlyOne('key', query.key)),
    ...given('tags', query.tag),
    ...given('parentId', onlyOne('parent', query.parent)),
    ...given('waitingFor', waitingFor(onlyOne('waits', query.waits))),
    ...given('createdAfter', instantOf('since', onlyOne('since', query.since))),
    ...given('createdBefore', instantOf('until', onlyOne('until', query.until))),
  }
}

/** A star at its end stands for any end of a key. */
function keyed(key: string | undefined): Pick<RunsMatching, 'key' | 'keyPrefix'> {
  if (key === undefined) return {}
  if (!key.endsWith('*')) return { key }
  if (key === '*') throw badRequest('key takes how a key begins before the star, like order:91*.')
  return { keyPrefix: key.slice(0, -1) }
}

export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value }
}

function waitingFor(limit: string | undefined): RunsMatching['waitingFor'] {
  return limit === undefined ? undefined : { limit }
}

/** Epoch milliseconds, or a span back from now. */
function instantOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{12,15}$/.test(text)) return Number(text)
  if (!/^\d+(\.\d+)?\s*[a-z]+$/i.test(text)) {
    throw badRequest(`${name} is epoch milliseconds, or a span back from now like 1h or 7d.`)
  }
  return Date.now() - durationMs(text as Duration, name)
}
