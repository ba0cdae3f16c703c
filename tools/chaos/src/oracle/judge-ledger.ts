import { isTerminal } from '@belay/workflow/adapter'
import type { EntryFacts, Facts, RunFacts, StepFacts } from './facts.ts'
import { summarised, type Violation } from './violation.ts'

export interface LedgerRules {
  /** Steps whose entries are in the ledger. */
  readonly ledgerSteps: readonly string[]
  /** What every account held before the first run, in cents. */
  readonly openingCents: number
}

/** The ledger, to the cent: one entry for everything that the rows say was done, none for the rest, and balances that add up. */
export function judgeLedger(facts: Facts, rules: LedgerRules): readonly Violation[] {
  const byRun = new Map<string, EntryFacts[]>()
  for (const entry of facts.entries) {
    const found = byRun.get(entry.runId)
    if (found === undefined) byRun.set(entry.runId, [entry])
    else found.push(entry)
  }
  const known = new Set(facts.runs.map(({ id }) => id))
  const wrong = [
    ...facts.runs.flatMap((run) => wrongEntries(run, byRun.get(run.id) ?? [], rules.ledgerSteps)),
    ...[...byRun.keys()]
      .filter((runId) => !known.has(runId))
      .map((runId) => `The ledger has entries of run ${runId}, which does not exist.`),
    ...wrongBalances(facts, rules.openingCents),
  ]
  return summarised('ledger', wrong)
}

function wrongEntries(
  run: RunFacts,
  entries: readonly EntryFacts[],
  ledgerSteps: readonly string[],
): string[] {
  const wrong: string[] = []
  for (const step of run.steps) {
    if (!ledgerSteps.includes(step.name)) continue
    const own = entries.filter((entry) => entry.step === step.name)
    const undone = own.filter(({ key }) => key.includes(':undo'))
    const expected = expectedOf(step)
    if (own.length - undone.length !== expected.forward || undone.length !== expected.undo)
      wrong.push(
        `Step ${step.name} of run ${run.id} is ${step.status}: the ledger should have ${expected.forward} entries of it and ${expected.undo} of its undo, and has ${own.length - undone.length} and ${undone.length}.`,
      )
  }
  const sum = entries.reduce((total, { cents }) => total + cents, 0)
  if (isTerminal(run.status) && sum !== 0 && run.stop !== 'abandonment')
    wrong.push(`The entries of run ${run.id}, which is ${run.status}, sum up to ${sum} cents instead of 0.`)
  return wrong
}

function expectedOf({ status, undoOf }: StepFacts): { readonly forward: number; readonly undo: number } {
  // Nobody knows what state a pruned run's undo began in. But steps of the ledger are undone only if they had completed.
  const wasDone = status === 'completed' || undoOf === 'completed' || undoOf === 'unknown'
  return { forward: wasDone ? 1 : 0, undo: status === 'compensated' && wasDone ? 1 : 0 }
}

function wrongBalances({ accounts, entries }: Facts, openingCents: number): string[] {
  const moved = new Map<number, number>()
  for (const { account, cents } of entries) moved.set(account, (moved.get(account) ?? 0) + cents)
  return accounts
    .filter(({ id, cents }) => cents !== openingCents + (moved.get(id) ?? 0))
    .map(
      ({ id, cents }) =>
        `Account ${id} holds ${cents} cents; by its entries it should hold ${openingCents + (moved.get(id) ?? 0)}.`,
    )
}
