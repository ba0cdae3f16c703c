import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { bank, shop } from '../setup/shop.ts'
import { filled } from './page.ts'
import { transcript } from './transcript.ts'

const PAGE = fileURLToPath(new URL('../../../../docs/cli.md', import.meta.url))

it('docs/cli.md has what belay says now (npx vitest run packages/cli/test/docs -u writes it anew)', async () => {
  const opened = await shop()
  const arriving = await transcript(opened, [[]])
  const finding = await transcript(opened, [['list'], ['show', 'order:9182'], ['show', 'order:9184']])
  const many = await transcript(opened, [
    ['retry', '--workflow', 'fulfil-order', '--since', '2h', '--reason', 'couriers are back', '--dry-run'],
  ])
  bank.refunds = 'open'
  const repairing = await transcript(opened, [
    ['explain', 'order:9183'],
    ['explain', 'order:9185'],
    ['undo', 'retry', 'order:9185', 'chargeCard', '--reason', 'refunds are open again'],
    ['approve', 'order:9183', 'approveOrder', '--comment', 'known customer'],
  ])

  const page = filled(readFileSync(PAGE, 'utf8'), { arriving, finding, repairing, many })

  await expect(page).toMatchFileSnapshot(PAGE)
})
