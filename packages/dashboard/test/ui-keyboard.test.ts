import { define } from '@belay/workflow'
import type { Page } from 'playwright-core'
import { beforeAll, expect, it, vi } from 'vitest'
import { bank } from '../../cli/test/setup/fulfil-order.ts'
import { axeFindings } from './setup/browser.ts'
import { isAt, press, pressUntil, tabTo } from './setup/keyboard.ts'
import { MAIN, onScreen, pageAt, pathOf, shown, startPages } from './setup/pages.ts'
import { fulfilOrder, ORDERS, type Shop, shop } from './setup/shop.ts'

/** Fails in both attempts, each time for another reason. */
const courier = define('courier', { version: 1 }).step('book', {
  retry: { attempts: 2, initial: '20ms', max: '20ms', jitter: false },
  run: ({ attempt }) => {
    throw new Error(attempt === 1 ? 'courier A timed out' : 'courier B is full')
  },
})
const parcel = define('parcel', { version: 1 }).waitForSignal('handedOver', {})
const shipment = define('shipment', { version: 1 }).workflow('ship', parcel, { key: () => 'parcel:1' })

const COURIERS = 60

onScreen('by keyboard alone', () => {
  let at: Shop
  let url: string
  let shipmentId: string

  beforeAll(async () => {
    at = await shop({ isShared: true, attempts: 'keep' })
    const worker = at.engine({ workflows: [courier, shipment], name: 'couriers', attempts: 'keep' })
    await worker.start()
    shipmentId = (await worker.run(shipment, undefined, { key: 'shipment:1' })).id
    for (let one = 1; one <= COURIERS; one += 1) {
      await worker.run(courier, undefined, { key: `courier:${one}` })
    }
    await vi.waitFor(async () => {
      expect((await worker.runs.count({ workflow: 'courier', status: 'failed' })).count).toBe(COURIERS)
      expect((await worker.runs.count({ workflow: 'parcel', status: 'waiting' })).count).toBe(1)
    }, 20_000)
    url = await startPages(at.worker)
  }, 60_000)

  const open = (path: string) => pageAt(url + path, {}, MAIN)
  const statusOf = async (id: string) => (await at.worker.runs.get(id))!.status
  /** From anywhere, by its key. */
  const jumpTo = async (page: Page, key: string) => {
    await shown(page, 'Press')
    await press(page, 'Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.type(key)
    // The one with this key stands before those whose keys begin so.
    await page.getByRole('option', { name: key }).first().waitFor()
    await press(page, 'Enter')
    await page.getByRole('heading', { name: key }).waitFor()
  }
  /** Gives the reason in the dialog that is open, and reads what came of it. */
  const giveReason = async (page: Page, reason: string, sentence: RegExp, label = 'Reason') => {
    const dialog = page.getByRole('dialog')
    await tabTo(page, label)
    await page.keyboard.type(reason)
    await press(page, 'Enter')
    await dialog.getByText(sentence).waitFor()
    await press(page, 'Escape')
    await dialog.waitFor({ state: 'detached' })
  }

  it('rewind an undone run to before its undo, and come back', async () => {
    const { page, complaints } = await open(`runs/${at.runs['order:9184'].id}/history`)
    await page.getByRole('slider').waitFor()
    const node = () => page.getByRole('treeitem', { name: /chargeCard/ }).getAttribute('aria-label')
    expect(await node()).toContain('undone')
    await tabTo(page, 'The instant that is shown')
    const seen = new Set<string | null>()
    await pressUntil(page, 'ArrowLeft', async () => {
      seen.add(await node())
      return (await node())!.includes('pending')
    })
    // Undone, being undone, to undo, completed, running, pending: some of them may share an instant.
    expect(seen.size).toBeGreaterThan(3)
    await pressUntil(page, 'ArrowRight', async () => (await node())!.includes('undone'))
    expect(complaints()).toEqual([])
  })

  it('compare the attempts of a step: the errors of both', async () => {
    const { page, complaints } = await open('runs')
    await jumpTo(page, 'courier:1')
    await tabTo(page, 'Steps', '.tabs')
    await press(page, 'Enter')
    await page.getByRole('rowheader', { name: 'book' }).waitFor()
    const first = page.getByRole('listitem').filter({ hasText: 'courier A timed out' })
    expect(await first.isVisible()).toBe(false)
    await tabTo(page, '2 attempts')
    await press(page, 'Enter')
    await first.waitFor()
    expect(await first.textContent()).toMatch(/^1: retrying/)
    const second = page.getByRole('listitem').filter({ hasText: 'courier B is full' })
    expect(await second.textContent()).toMatch(/^2: failed/)
    expect(complaints()).toEqual([])
  })

  it('approve what a run waits for, with a reason', async () => {
    const { id } = at.runs['order:9183']
    const { page, complaints } = await open('runs')
    await jumpTo(page, 'order:9183')
    await shown(page, /"approveOrder" waits for a decision, until \d+ \w+ \d\d:\d\d at the latest/)
    await tabTo(page, 'Approve…', '.run-actions')
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Approve approveOrder' }).waitFor()
    await shown(page, /waits for a decision, and would go on/)
    await giveReason(page, 'known customer', /Delivered/, 'Comment')
    await shown(page, /"shipped" waits for/)
    const { steps } = (await at.worker.runs.get(id))!
    expect(steps.find(({ name }) => name === 'approveOrder')).toMatchObject({ status: 'completed' })
    await tabTo(page, 'History', '.tabs')
    await press(page, 'Enter')
    await shown(page, 'known customer')
    expect(complaints()).toEqual([])
  })

  it('cancel a run that goes forward, after a look at what its undo would be', async () => {
    const { id } = at.runs['order:9182']
    const { page, complaints } = await open('runs')
    await jumpTo(page, 'order:9182')
    await tabTo(page, 'Preview an undo')
    expect(await page.getByText('would be undone').count()).toBe(0)
    await press(page, 'Space')
    await shown(page, 'would be undone')
    expect(await statusOf(id)).toBe('waiting')
    await pressUntil(page, 'Shift+Tab', () => isAt(page, 'Cancel…', '.run-actions'))
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Cancel the run' }).waitFor()
    bank.refunds = 'open'
    await shown(page, /would be cancelled: what runs ends first, then what was done is undone/)
    await giveReason(page, 'the customer called', /It was waiting and is now/)
    await page.locator('.badge').getByText('Cancelled').waitFor()
    await shown(page, 'the customer called')
    expect(await statusOf(id)).toBe('cancelled')
    expect(complaints()).toEqual([])
  })

  it('go from a run to one that it started, and back', async () => {
    const { page, complaints } = await open(`runs/${shipmentId}`)
    const own = page.getByRole('treeitem', { name: 'shipment:1' })
    await own.waitFor()
    await tabTo(page, 'shipment:1', '[role="tree"]')
    await press(page, 'ArrowRight')
    const child = page.getByRole('treeitem', { name: 'parcel:1' })
    await child.waitFor()
    expect(await own.getAttribute('aria-expanded')).toBe('true')
    expect(await axeFindings(page, 'main')).toEqual([])
    await press(page, 'ArrowRight')
    expect(await isAt(page, 'parcel:1')).toBe(true)
    await press(page, 'ArrowLeft', 'ArrowLeft')
    await child.waitFor({ state: 'detached' })
    await press(page, 'ArrowRight')
    await child.waitFor()
    await press(page, 'End', 'Enter')
    await page.getByRole('heading', { name: 'parcel:1' }).waitFor()
    await tabTo(page, 'parcel:1', '[role="tree"]')
    await press(page, 'ArrowUp', 'Enter')
    await page.getByRole('heading', { name: 'shipment:1' }).waitFor()
    expect(pathOf(page)).toBe(`runs/${shipmentId}`)
    expect(complaints()).toEqual([])
  })

  it('filter by text, page on, open a run, and come back to its row', async () => {
    const { page, complaints } = await open('runs')
    await shown(page, 'Press')
    await press(page, '/')
    await page.keyboard.type('workflow:courier status:failed')
    await press(page, 'Enter')
    await page.getByRole('button', { name: 'Remove workflow courier' }).waitFor()
    const runs = page.locator('a[data-run]')
    await vi.waitFor(async () => expect(await runs.first().textContent()).toBe(`courier:${COURIERS}`), 20_000)
    await press(page, 'Escape', ']')
    await vi.waitFor(async () => expect(await runs.first().textContent()).toBe('courier:10'), 20_000)
    const { search } = new URL(page.url())
    await press(page, 'j', 'j', 'j', 'Enter')
    await page.getByRole('heading', { name: 'courier:8' }).waitFor()
    await shown(page, /courier B is full/)
    await tabTo(page, 'Runs', '.crumbs')
    await press(page, 'Enter')
    await vi.waitFor(async () => expect(await isAt(page, 'courier:8')).toBe(true), 20_000)
    expect(new URL(page.url()).search).toBe(search)
    await press(page, 'j')
    expect(await isAt(page, 'courier:7')).toBe(true)
    expect(complaints()).toEqual([])
  })

  it('act at a finding of Health', async () => {
    const { page, complaints } = await open('health')
    await shown(page, /60 of 60 runs of workflow "courier" version 1 that ended since \d\d:\d\d:\d\d failed/)
    await tabTo(page, 'Retry…', '.helps')
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Send the run forward again' }).waitFor()
    await shown(page, /It is failed, and would go forward again/)
    await giveReason(page, 'courier B has room', /It was failed and is now/)
    const retried = async () => {
      const runs = await at.worker.runs.list({ workflow: 'courier', limit: 100 })
      const histories = await Promise.all(runs.map(({ id }) => at.worker.runs.history(id)))
      return histories.flat().map(({ action, reason, by }) => ({ action, reason, by }))
    }
    expect(await retried()).toEqual([{ action: 'retry', reason: 'courier B has room', by: 'ada' }])
    expect(complaints()).toEqual([])
  })

  it('find a parked run, see why, and retry its undo after the dry run', async () => {
    const { id } = at.runs['order:9185']
    const { page, complaints } = await open('runs')
    await jumpTo(page, 'order:9185')
    await shown(page, /The undo of "chargeCard" failed for good/)
    expect(await page.getByRole('navigation', { name: 'Breadcrumb' }).textContent()).toBe(
      'Runs/fulfil-order/order:9185',
    )
    await tabTo(page, 'Retry the undo…')
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Retry the undo of chargeCard' }).waitFor()
    await shown(page, /would be called again/)
    expect(await statusOf(id)).toBe('compensation_failed')
    expect(await axeFindings(page, 'dialog')).toEqual([])
    bank.refunds = 'open'
    expect(await isAt(page, 'Reason')).toBe(true)
    await giveReason(page, 'refunds are open again', /due now|is now/)
    await vi.waitFor(async () => expect(await statusOf(id)).toBe('compensated'), 20_000)
    await page.locator('.badge').getByText('Undone').waitFor()
    await tabTo(page, 'History', '.tabs')
    await press(page, 'Enter')
    await shown(page, 'refunds are open again')
    expect(complaints()).toEqual([])
  })

  it('go from a finding of Health to its run, and act there', async () => {
    bank.refunds = 'closed'
    const run = await at.worker.run(fulfilOrder, ORDERS['order:9184'], { key: 'order:9186' })
    await run.result().catch(() => {})
    const { page, complaints } = await open('runs')
    await shown(page, 'Press')
    await press(page, 'g', 'h')
    await shown(page, /The undo of 1 run of workflow "fulfil-order" version 3 has failed for good/)
    await tabTo(page, 'order:9186', '.helps')
    await press(page, 'Enter')
    await page.getByRole('heading', { name: 'order:9186' }).waitFor()
    await tabTo(page, 'Mark as undone…', '.run-actions')
    await press(page, 'Enter')
    await page.getByRole('dialog', { name: 'Mark as undone chargeCard' }).waitFor()
    await shown(page, /without calling its undo/)
    await giveReason(page, 'refunded by hand', /"chargeCard" was/)
    await vi.waitFor(async () => expect(await statusOf(run.id)).toBe('compensated'), 20_000)
    await press(page, 'g', 'h')
    await shown(page, /has failed for good|Checked/)
    await page.getByText(/The undo of .* has failed for good/).waitFor({ state: 'detached' })
    expect(complaints()).toEqual([])
  })
})
