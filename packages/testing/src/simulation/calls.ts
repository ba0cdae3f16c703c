import { type Adapter, ASKING_VERBS, type VerbName } from '@belay/workflow/adapter'

/** The verbs of this adapter that ask its store something: whatever is added to the port is among them. */
export function verbsOf(adapter: Adapter): readonly VerbName[] {
  return ASKING_VERBS.filter((name) => typeof adapter[name] === 'function')
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

/** Counts one more of them. */
export function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
