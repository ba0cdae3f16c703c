import { slowed } from '../database.ts'
import type { Outcome, Part, Players } from '../demonstration/part.ts'
import { currentShowing } from '../demonstration/showing.ts'
import { STEP_ROWS_SQL, showSql } from '../demonstration/sql-rows.ts'
import type { Stage } from '../demonstration/stage.ts'
import { Checklist } from '../terminal/checklist.ts'
import { readShelves } from './accounts.ts'
import { fulfilOrder } from './fulfil-order.ts'
import { checkCompleted, checkUndone } from './order-checks.ts'
import { goodOrder, undeliverableOrder } from './orders.ts'
import { createShopTables, openShop, restock } from './shop/index.ts'

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
  await showSql(stage, STEP_ROWS_SQL, completed.id)
  await checkCompleted(database, checklist, { run: completed, order: good })

  screen.heading('Order 2 of 2: its mail cannot be delivered, so everything is undone, backwards')
  const second = await engine.run(workflow, undeliverable, { key: undeliverable.id })
  const undone = await player.follow(second, workflow)
  await showSql(stage, STEP_ROWS_SQL, undone.id)
  await checkUndone(database, checklist, { run: undone, order: undeliverable })
  checklist.check('every shelf holds what it held before', {
    actual: await readShelves(database),
    expected: shelvesBetween,
  })

  return { kept: checklist.allKept, finish }
}
