import type { RunSnapshot } from '@belay/workflow'
import type { Database } from '../database.ts'
import type { Checklist } from '../terminal/checklist.ts'
import { readAccount } from './accounts.ts'
import type { Order } from './shop/index.ts'

interface Handled {
  readonly run: RunSnapshot
  readonly order: Order
}

/** Checks an order that went through although its first charge got no answer. */
export async function checkCompleted(
  database: Database,
  checklist: Checklist,
  { run, order }: Handled,
): Promise<void> {
  const account = await readAccount(database, order.id)
  const reserved = order.items.reduce((sum, { quantity }) => sum + quantity, 0)
  checklist.check('the run completed', { actual: run.status, expected: 'completed' })
  checklist.check(`${reserved} articles are reserved`, {
    actual: [account.reserved, account.released],
    expected: [reserved, 0],
  })
  checklist.check('the card was charged once, although it was tried twice', {
    actual: [account.charges, account.refunds, attemptsOf(run, 'chargeCard') >= 2],
    expected: [1, 0, true],
  })
  checklist.check('one valid invoice, one mail sent, one sale counted', {
    actual: [account.valid_invoices, account.mails, account.sales],
    expected: [1, 1, 1],
  })
}

/** Checks an order whose mail could not be delivered. */
export async function checkUndone(
  database: Database,
  checklist: Checklist,
  { run, order }: Handled,
): Promise<void> {
  const account = await readAccount(database, order.id)
  const failed = run.cause?.type === 'step_failed' ? run.cause : undefined
  checklist.check('sendMail failed for good, and the run was compensated', {
    actual: [run.status, failed?.step, (failed?.attempt ?? 0) >= 3],
    expected: ['compensated', 'sendMail', true],
  })
  checklist.check('the undo went backwards: analytics first, stock last', {
    actual: undoOrderOf(run),
    expected: ['updateAnalytics', 'issueInvoice', 'chargeCard', 'reserveStock'],
  })
  checklist.check('all reserved articles are released', {
    actual: account.released,
    expected: account.reserved,
  })
  checklist.check('the payment was refunded once and in full', {
    actual: [account.charges, account.refunds, account.balance_cents],
    expected: [1, 1, 0],
  })
  checklist.check('one cancelled invoice, no mail sent, no sale counted', {
    actual: [account.valid_invoices, account.cancelled_invoices, account.mails, account.sales],
    expected: [0, 1, 0, 0],
  })
}

function attemptsOf(run: RunSnapshot, name: string): number {
  return run.steps.find((step) => step.name === name)?.attempts ?? 0
}

/** The names of the undone steps, in the order in which they were undone. */
export function undoOrderOf(run: RunSnapshot): readonly string[] {
  // Reversed before sorting: two undos that ended in the same millisecond cannot be ordered by their times.
  return [...run.steps]
    .reverse()
    .filter(({ status }) => status === 'compensated')
    .sort((one, other) => one.undo!.finishedAt!.getTime() - other.undo!.finishedAt!.getTime())
    .map(({ name }) => name)
}
