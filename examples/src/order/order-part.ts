import type { RunSnapshot } from '@belay/workflow'
import { slowed } from '../database.ts'
import type { Outcome, Part, Players } from '../demonstration/part.ts'
import { currentShowing } from '../demonstration/showing.ts'
import type { Stage } from '../demonstration/stage.ts'
import { readStepRows, STEP_ROWS_SQL } from '../demonstration/step-rows.ts'
import { Checklist } from '../terminal/checklist.ts'
import { table } from '../terminal/table.ts'
import { readAccount, readShelves } from './accounts.ts'
import { fulfilOrder } from './fulfil-order.ts'
import { goodOrder, undeliverableOrder } from './orders.ts'
import { createShopTables, type Order, openShop, restock } from './shop/index.ts'

/** Fulfils one order, then another that fails at its last step and is undone. */
export function orderPart(stage: Stage): Part {
  const workflow = fulfilOrder(openShop(slowed(stage.database, stage.paceMs)))
  return { workflow, concurrency: 4, show: (players) => showOrders(stage, workflow, players) }
}

async function showOrders(
  stage: Stage,
  workflow: ReturnType<typeof fulfilOrder>,
  { engine, player }: Players,
): Promise<Outcome> {
  const { database, screen } = stage
  await createShopTables(database)
  const { id, remember, finish } = await currentShowing(database, 'shop', () => restock(database))
  const checklist = new Checklist(screen)
  const good = goodOrder(`order-${id}-a`)
  const undeliverable = undeliverableOrder(`order-${id}-b`)

  screen.heading('Order 1 of 2: it goes through, although the answer to the first charge is lost')
  const first = await engine.run(workflow, good, { key: good.id })
  const completed = await player.follow(first, workflow)
  const shelvesBetween = await remember('shelves between', () => readShelves(database))
  await showRows(stage, completed)
  await checkCompleted(stage, checklist, { run: completed, order: good })

  screen.heading('Order 2 of 2: its mail cannot be delivered, so everything is undone, backwards')
  const second = await engine.run(workflow, undeliverable, { key: undeliverable.id })
  const undone = await player.follow(second, workflow)
  await showRows(stage, undone)
  await checkUndone(stage, checklist, { run: undone, order: undeliverable })
  checklist.check('every shelf holds what it held before', {
    actual: await readShelves(database),
    expected: shelvesBetween,
  })

  return { kept: checklist.allKept, finish }
}

async function showRows({ database, screen }: Stage, run: RunSnapshot): Promise<void> {
  screen.print('', ...STEP_ROWS_SQL.split('\n').map((line) => `  ${screen.colours.dim(line)}`))
  screen.print(...table(await readStepRows(database, run.id)), '')
}

async function checkCompleted(
  { database }: Stage,
  checklist: Checklist,
  { run, order }: { readonly run: RunSnapshot; readonly order: Order },
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
  checklist.check('one invoice is valid, one mail was sent, one sale was counted', {
    actual: [account.valid_invoices, account.mails, account.sales],
    expected: [1, 1, 1],
  })
}

async function checkUndone(
  { database }: Stage,
  checklist: Checklist,
  { run, order }: { readonly run: RunSnapshot; readonly order: Order },
): Promise<void> {
  const account = await readAccount(database, order.id)
  const failed = run.cause?.type === 'step_failed' ? run.cause : undefined
  checklist.check('the run failed at sendMail, after at least 3 attempts, and was compensated', {
    actual: [run.status, failed?.step, (failed?.attempt ?? 0) >= 3],
    expected: ['compensated', 'sendMail', true],
  })
  checklist.check('it was undone backwards: updateAnalytics, issueInvoice, chargeCard, reserveStock', {
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
  checklist.check('the invoice is cancelled, no mail was sent, no sale is counted', {
    actual: [account.valid_invoices, account.cancelled_invoices, account.mails, account.sales],
    expected: [0, 1, 0, 0],
  })
}

function attemptsOf(run: RunSnapshot, name: string): number {
  return run.steps.find((step) => step.name === name)?.attempts ?? 0
}

function undoOrderOf(run: RunSnapshot): readonly string[] {
  // Reversed before sorting: two undos that ended in the same millisecond cannot be ordered by their times.
  return [...run.steps]
    .reverse()
    .filter(({ status }) => status === 'compensated')
    .sort((one, other) => one.undo!.finishedAt!.getTime() - other.undo!.finishedAt!.getTime())
    .map(({ name }) => name)
}
