import type { Adapter } from '@belay/workflow/adapter'

/** What adapters have beside the verbs of the port. */
const NOT_VERBS: ReadonlySet<string> = new Set([
  'constructor',
  'connect',
  'dump',
  'transaction',
  'migrate',
  // Hints and notices: nothing is asked of the store.
  'onWake',
  'wake',
  'onNotice',
  'checkTransactions',
  'close',
])

/** The names of the verbs that an adapter has: whatever is added to the port is among them. */
export function verbsOf(adapter: Adapter): readonly string[] {
  const names = new Set([
    ...Object.keys(adapter),
    ...Object.getOwnPropertyNames(Object.getPrototypeOf(adapter)),
  ])
  return [...names].filter(
    (name) => !NOT_VERBS.has(name) && typeof adapter[name as keyof Adapter] === 'function',
  )
}

/** A call's name in a report of what was called: the verb, and in which of its ways. */
export function nameOfCall(verb: string, args: readonly unknown[]): string {
  const options = args.at(-1) as { readonly tx?: unknown; readonly lease?: unknown; readonly stop?: unknown }
  if (options?.tx !== undefined) return `${verb} in a transaction`
  if (verb === 'startRuns' && options?.lease !== undefined) return 'startRuns leased'
  if (verb === 'cancelRuns' && options?.stop === 'abandonment') return 'cancelRuns without an undo'
  return verb
}

export function isWithin(args: readonly unknown[]): boolean {
  return (args.at(-1) as { readonly tx?: unknown } | undefined)?.tx !== undefined
}
