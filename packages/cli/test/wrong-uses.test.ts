import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { type Shop, shop } from './setup/shop.ts'

const WHY = ['--reason', 'tested'] as const

/** What is typed, the exit status, and what the first line says. */
const WRONG: readonly (readonly [argv: readonly string[], status: number, says: RegExp])[] = [
  [['unod'], 2, /^Unknown verb "unod"\. Did you mean "undo"\?$/],
  [['lst'], 2, /^Unknown verb "lst"\. Did you mean "list"\?$/],
  [['undo', 'retyr', 'order:9185', 'chargeCard'], 2, /^Unknown verb "retyr"\. Did you mean "retry"\?$/],
  [['list', '--stauts', 'failed'], 2, /^Unknown flag "--stauts"\. Did you mean "--status"\?$/],
  [['list', '--status', 'complete'], 2, /Did you mean "completed"\?/],
  [['list', '--status'], 2, /^--status needs a value\.$/],
  [['list', '--limit', 'ten'], 2, /^--limit takes a whole number, got "ten"\.$/],
  [['list', '--limit', '0'], 2, /limit must be a whole number from 1 to 1000/i],
  [['list', '--since', 'yesterday'], 2, /^--since: "yesterday" is neither an age like 2h nor an instant/],
  [['list', '--fields', 'id,nmae'], 2, /^--fields: there is no "nmae" here\. It has status, id, key/],
  [['list', '--before', 'order:9182', '--after', 'order:9184'], 2, /give before or after, not both/i],
  [['list', 'order:9182'], 2, /more arguments than it takes/],
  [['show'], 2, /^Run is missing\.$/],
  [['show', 'order:1'], 1, /^No run has the key "order:1"\.$/],
  [['show', '01a30000'], 1, /^No run begins with 01a30000\. Its time is 2027-01-1\d/],
  [['show', 'other/order:9182'], 1, /^No run has the key "other\/order:9182"\.$/],
  [['show', randomUUID()], 1, /^No run begins with /],
  [['watch', 'order:1'], 1, /^No run has the key "order:1"\.$/],
  [['explain', 'order:1'], 1, /^No run has the key "order:1"\.$/],
  [['history', 'order:1'], 1, /^No run has the key "order:1"\.$/],
  [['graph', 'fulfill-order'], 1, /fulfill-order/],
  [
    ['graph', 'fulfil-order', '--version', '9'],
    1,
    /^Version 9 of workflow "fulfil-order" is not stored\. Give one of its stored versions: 3\.$/,
  ],
  [['cancel', 'order:9182'], 2, /^--reason is missing: the run's history keeps it\.$/],
  [['cancel', 'order:9182', '--reason', '…'], 2, /reason/],
  [['cancel', '--workflow', 'fulfil-order', ...WHY], 2, /--yes/],
  [['pause', 'order:9184'], 1, /cannot be paused/],
  [['retry', 'order:9182', ...WHY], 1, /cannot be retried/],
  [['retry', 'order:9184', 'bookCurier', ...WHY], 2, /Did you mean "bookCourier"\?/],
  [['skip', 'order:9182', 'shiped', ...WHY], 2, /Did you mean "shipped"\?/],
  [['skip', 'order:9182', 'shipped', '--output', '{', ...WHY], 2, /--output/],
  [['approve', 'order:9183', 'aproveOrder'], 2, /Did you mean "approveOrder"\?/],
  [['approve', 'order:9182', 'shipped'], 2, /shipped/],
  [['signal', 'order:9182', 'shipped', '--data', '{'], 2, /--data/],
  [
    ['signal', 'order:9182', 'shipped', '--data', '{}'],
    2,
    /^No config has fulfil-order v3, so nobody checks this payload\./,
  ],
  [['priority', 'order:9182', 'high'], 2, /priority/i],
  [['priority', 'order:9182', '5000'], 2, /1000|1,000/],
  [['move', 'order:9182', '--to', '4', ...WHY], 2, /config/],
  [
    ['undo', 'retry', 'order:9185', 'reserveStock', ...WHY],
    1,
    /^Step "reserveStock" .* cannot be retried in its undo/,
  ],
  [['undo', 'skip', 'order:9182', 'chargeCard', ...WHY], 1, /./],
  [['undo', 'give-up', 'order:9185', 'chargeCard', ...WHY], 1, /./],
  [['run', 'fulfill-order'], 1, /fulfill-order/],
  [['run', 'fulfil-order', '--input', '{'], 2, /--input/],
  [
    ['run', 'fulfil-order', '--input', '{"id":12345678901234567890}'],
    2,
    /^--input: JSON cannot keep the number 12345678901234567890 at \$\.id: it would/,
  ],
  [
    ['signal', 'order:9182', 'shipped', '--data', '[1e400]', '--unchecked'],
    2,
    /1e400 at \$\[0\]: it would become null/,
  ],
  [
    ['approve', 'order:9183', 'approveOrder', '--data', '9007199254740993', '--unchecked'],
    2,
    /would become 9007199254740992/,
  ],
  [['skip', 'order:9182', 'shipped', '--output', '0.1000000000000000055', ...WHY], 2, /would become 0\.1\./],
  [['list', '--limit', '9007199254740993'], 2, /^--limit takes a whole number/],
  [['list', '--urll=postgres://ann:s3cret@db/shop'], 2, /^Unknown flag "--urll"\.$/],
  [['postgres://ann:s3/c@ret@db/shop'], 2, /^Unknown verb "postgres:\/\/ann:…@db\/shop"\.$/],
  [['limits', 'set', 'payments', '--slots', '5'], 2, /payments/],
  [['schedules', 'preview', 'nightly'], 1, /nightly/],
  [['prune'], 2, /--older-than/],
  [['completion', 'tcsh'], 2, /bash/],
  [['dashboard', '--port', '70000'], 2, /65535/],
  [['dashboard', '--port', 'x'], 2, /--port/],
]

describe('a wrong use', () => {
  let opened: Shop
  beforeAll(async () => {
    opened = await shop({ isShared: true })
  })

  it.each(WRONG)('%j ends with %i', async (argv, status, says) => {
    const before = await states(opened)

    const said = await belay(argv, { env: opened.env, columns: 80 })

    const told = said.stderr
      .replaceAll(/\s*\n(?! {2}belay )\s*/g, ' ')
      .trim()
      .split('\n')[0]!
    expect([said.status, told]).toEqual([status, expect.stringMatching(says)])
    expect(said.stderr).toMatch(/\n$/)
    expect(said.stdout).toBe('')
    expect(said.stderr).not.toMatch(/\n\s+at |undefined|\[object/)
    expect(await states(opened)).toEqual(before)
  })
})

/** The statuses of all steps. */
async function states({ engine }: Shop): Promise<unknown> {
  const runs = await engine().runs.list({ steps: true })
  return runs.map(({ id, status, steps }) => [id, status, steps.map((step) => step.status)])
}
