import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { orderPart } from '../src/order/order-part.ts'
import { CATALOGUE } from '../src/order/shop/index.ts'
import { losing, openTheatre } from './theatre.ts'

let theatre: Awaited<ReturnType<typeof openTheatre>>
let firstText = ''

beforeAll(async () => {
  theatre = await openTheatre()
})
afterAll(() => theatre.close())

describe('the order demonstration', () => {
  test('fulfils one order, undoes another, and leaves the rows it promises', {
    timeout: 20_000,
  }, async () => {
    const { kept, text } = await theatre.perform(orderPart)
    firstText = text

    expect(kept, text).toBe(true)
    // The shop's own rows, read here and not by the code under test.
    const { database } = theatre
    expect(
      await database.query('select order_id, kind, amount_cents from shop.payments order by 1, 2'),
    ).toEqual([
      { order_id: 'order-1-a', kind: 'charge', amount_cents: 18_900 + 8 * 1_290 },
      { order_id: 'order-1-b', kind: 'charge', amount_cents: 2 * 18_900 + 2 * 3_450 },
      { order_id: 'order-1-b', kind: 'refund', amount_cents: -(2 * 18_900 + 2 * 3_450) },
    ])
    expect(await database.query('select sku, available from shop.stock order by sku')).toEqual([
      { sku: 'belay-device', available: available('belay-device') },
      { sku: 'carabiner', available: available('carabiner') - 8 },
      { sku: 'rope-60m', available: available('rope-60m') - 1 },
    ])
    expect(
      await database.query('select order_id, cancelled_at is null as valid from shop.invoices order by 1'),
    ).toEqual([
      { order_id: 'order-1-a', valid: true },
      { order_id: 'order-1-b', valid: false },
    ])
    expect(await database.query('select order_id, recipient from shop.mails')).toEqual([
      { order_id: 'order-1-a', recipient: 'ada@example.com' },
    ])
    expect(await database.query('select order_id from shop.analytics')).toEqual([{ order_id: 'order-1-a' }])
    expect(await database.query('select key, status from belay.workflow_run_overview order by key')).toEqual([
      { key: 'order-1-a', status: 'completed' },
      { key: 'order-1-b', status: 'compensated' },
    ])
  })

  test('notices when an undo did not do what it promised', async () => {
    const { kept, text } = await theatre.perform(orderPart, (database) => losing(database, /set released_at/))

    expect(kept).toBe(false)
    expect(text).toContain('✘ all reserved articles are released: expected 4, found 0')
    expect(text).toContain('✘ every shelf holds what it held before')
  })

  test('begins a new showing once a demonstration has ended', async () => {
    const keys = await theatre.database.query<{ key: string }>(
      'select key from belay.workflow_run_overview order by key',
    )
    expect(keys.map(({ key }) => key)).toEqual(['order-1-a', 'order-1-b', 'order-2-a', 'order-2-b'])
  })

  test('shows every step as plain lines, without escape codes', () => {
    const text = firstText
    expect(text).toMatch(/chargeCard: attempt 1 failed \(504: .*\); next one in \d+ ms/)
    expect(text).toMatch(/sendMail: failed for good after attempt 3/)
    expect(text).toMatch(/reserveStock: undone after \d+ ms/)
    expect(text).toMatch(/chargeCard +\| compensated +\| completed/)
    expect(text).not.toContain('\u001b')
  })
})

function available(sku: string): number {
  return CATALOGUE.find((article) => article.sku === sku)!.available
}
