import { type Adapter, ASKING_VERBS, type Outcome, skipOf, type VerbName } from '@belay/workflow/adapter'

/** This adapter's verbs that ask its store something, including any verb added to the port. */
export function verbsOf(adapter: Adapter): readonly VerbName[] {
  return ASKING_VERBS.filter((name) => typeof adapter[name] === 'function')
}

/** A call's name in a report: the verb, and the way in which it was called. */
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

/** An operator's change is compared with what the run was right before it, so no other may fall in between. */
export function isLookedAt(verb: string, args: readonly unknown[]): boolean {
  return verb === 'changeRun' && !isWithin(args)
}

/** Counts one more. */
export function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** How an attempt ended, for a report. */
export function wordsFor(outcome: Outcome): string {
  return outcome.type === 'skipped' ? `skipped by ${skipOf(outcome.branch)?.because}` : outcome.type
}

/** Payloads that cannot be shown as JSON are shown as text. */
export function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' ||
      typeof inner === 'string' ||
      typeof inner === 'number' ||
      typeof inner === 'boolean'
        ? inner
        : String(inner),
    ) ?? 'nothing'
  )
}
