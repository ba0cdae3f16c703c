import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPgliteDirectory } from '@belay/postgres-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isRunning, pidsIn } from './processes.ts'
import { Program } from './program.ts'
import { TerminalProgram } from './terminal-program.ts'

const ESCAPE = '\u001b'

/** Where the tour keeps its database while it runs. */
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-tour-'))
  // PostgreSQL may run as another user.
  await chmod(folder, 0o755)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const inTerminal = (columns: number, rows: number, ...args: readonly string[]) =>
  new TerminalProgram('start.js', args, { columns, rows }, { TMPDIR: folder })

const filesLeft = () => readdir(folder)
const runningOf = (pids: readonly number[]) => pids.filter(isRunning)

const CHECKS = [
  '✔ the run completed',
  '✔ 9 articles are reserved',
  '✔ the card was charged once, although it was tried twice',
  '✔ one valid invoice, one mail sent, one sale counted',
  '✔ asked again with that key, the network moved nothing',
]
const UNDO_CHECKS = [
  '✔ sendMail failed for good, and the run was compensated',
  '✔ the undo went backwards: analytics first, stock last',
  '✔ all reserved articles are released',
  '✔ the payment was refunded once and in full',
  '✔ one cancelled invoice, no mail sent, no sale counted',
  '✔ every shelf holds what it held before',
]

describe('the tour in a terminal of 80 columns and 24 rows', () => {
  test('shows the code, the kill, the takeover and the undo, each on one screen', async () => {
    // Pages stand for eight seconds: on the busiest machine a key comes earlier.
    const tour = inTerminal(80, 24, '--pace', '300', '--sql')

    const opening = await tour.shows('go on')
    const source = (await readFile(new URL('../src/order/fulfil-order.ts', import.meta.url), 'utf8')).split(
      '\n',
    )
    const first = source.findIndex((line) => line.includes('define('))
    const code = source.slice(first, first + 15).map((line) => line.slice(2))
    expect(opening.slice(4, 19)).toEqual(code)
    tour.press(' ')

    const charging = await tour.shows('k kill -9')
    expect(charging.join('\n')).toMatch(/● worker [AB] {2}pid \d+ +holds chargeCard/)
    expect(charging.join('\n')).toMatch(/1\. worker ([AB]), key .+:chargeCard: 292\.20 € moved/)
    tour.press('k')
    const killed = (await tour.shows(/✘ worker [AB] .*killed, holds chargeCard; lease ends in/)).join('\n')
    const [, victim] = /✘ worker ([AB])/.exec(killed)!
    const other = victim === 'A' ? 'B' : 'A'
    expect(killed).toMatch(/! chargeCard +orphaned/)
    expect(killed).toContain('3 s here')
    const taken = (await tour.shows(`chargeCard: started by worker ${other}, attempt 2`)).join('\n')
    expect(taken).toContain(`the lease of worker ${victim} is over`)

    const completed = (await tour.shows('go on')).join('\n')
    expect(completed).toMatch(new RegExp(`chargeCard +done +\\d attempts +\\d+ ms +worker ${other}`))
    expect(completed).toMatch(new RegExp(`2\\. worker ${other}, key .+: nothing moved, this key has paid`))
    for (const check of CHECKS) expect(completed).toContain(check)
    tour.press(' ')
    const rows = (await tour.shows('belay.workflow_step_overview')).join('\n')
    expect(rows).toMatch(/chargeCard +\| completed +\| +\| +[2-9] \| +[1-9] \|/)
    tour.press(' ')

    const undone = (await tour.shows('every shelf holds')).join('\n')
    expect(undone).toContain('sendMail failed for good: 451: no mail server answers for nowhere.invalid.')
    const order = [...undone.matchAll(/(\d)\. ↩ (\w+)/g)].map(([, place, step]) => `${place} ${step}`)
    expect(order).toEqual(['1 updateAnalytics', '2 issueInvoice', '3 chargeCard', '4 reserveStock'])
    for (const check of UNDO_CHECKS) expect(undone).toContain(check)
    tour.press(' ')
    await tour.shows('belay.workflow_step_overview')
    tour.press(' ')

    expect(await tour.ended).toBe(0)
    const closing = tour.screen.join('\n')
    expect(closing).toContain('Every promise was kept.')
    for (const told of ['npm start -- media', 'docs/patterns.md', 'README.md'])
      expect(closing).toContain(told)
    expect(tour.hasWrappedRow).toBe(false)
    const pids = pidsIn(tour.bytes)
    expect(pids.length).toBeGreaterThanOrEqual(3)
    expect(runningOf(pids)).toEqual([])
    expect(await filesLeft()).toEqual([])
  })
})

describe('the tour in other terminals', () => {
  // tour-pages.test.ts draws each page in other sizes, too.
  test('of 60 columns and 24 rows goes on by itself, and kills by itself', async () => {
    const tour = inTerminal(60, 24, '--pace', '20')

    expect(await tour.ended).toBe(0)

    // Some sentences take two rows.
    const history = tour.history.join(' ').replace(/ +/g, ' ')
    for (const told of [...CHECKS, ...UNDO_CHECKS, 'Every promise was kept.']) expect(history).toContain(told)
    expect(history).toMatch(/2\. worker [AB], key \S+: nothing moved, this key has paid/)
    expect(tour.hasWrappedRow).toBe(false)
    expect(await filesLeft()).toEqual([])
  })

  test('fits again after the terminal became small, and ends with q and exit code 0', async () => {
    const tour = inTerminal(120, 45, '--pace', '2000')
    await tour.shows('go on')
    tour.press(' ')
    await tour.shows('k kill -9')

    tour.resize(60, 20)

    // The lines that a large terminal has room for, and a small one has not.
    const small = await tour.shows(/^(?!.*pid \d)[\s\S]*holds chargeCard[\s\S]*k kill -9 worker [AB]/)
    expect(small[0]).toBe('Order 1 of 2: a worker is killed while it charges a card')
    expect(small.at(-1)).toMatch(/^k kill -9 worker [AB] .*q quit$/)
    for (const step of ['reserveStock', 'checkFraud', 'chargeCard', 'issueInvoice', 'updateAnalytics']) {
      expect(small.join('\n')).toContain(step)
    }
    tour.press('q')
    expect(await tour.ended).toBe(0)
    expect(tour.bytes.lastIndexOf(`${ESCAPE}[?25h`)).toBeGreaterThan(tour.bytes.lastIndexOf(`${ESCAPE}[?25l`))
    expect(await filesLeft()).toEqual([])
  })
})

test('the tour without a terminal tells the whole story in plain lines', async () => {
  const { code, out, err } = await new Program('start.js', ['--pace', '20', '--sql'], { TMPDIR: folder })
    .ended

  expect(code, out + err).toBe(0)
  expect(out).not.toContain(ESCAPE)
  for (const told of [...CHECKS, ...UNDO_CHECKS, 'Every promise was kept.']) expect(out).toContain(told)
  expect(out).toMatch(
    /kill -9 \d+: worker ([AB]) is dead and holds chargeCard[\s\S]*the lease of worker \1 is over[\s\S]*chargeCard: completed by worker (?!\1)[AB] .*attempt 2/,
  )
  expect(out).toMatch(
    /updateAnalytics: undone[\s\S]*issueInvoice: undone[\s\S]*chargeCard: undone[\s\S]*reserveStock: undone/,
  )
  expect(out).toMatch(/updateAnalytics \| compensated/)
  expect(runningOf(pidsIn(out))).toEqual([])
  expect(await filesLeft()).toEqual([])
})

describe('a tour that is ended half-way', () => {
  // Pages stand for minutes, and nobody is killed.
  const SLOW = ['--pace', '5000'] as const

  test('by Ctrl-C leaves no process and no file', async () => {
    const tour = inTerminal(80, 24, ...SLOW)
    const pids = pidsIn((await tour.shows('go on')).join('\n'))

    tour.press('\u0003')

    expect(await tour.ended).toBe(130)
    expect(tour.screen.join('\n')).toContain('Stopped.')
    expect(pids).toHaveLength(2)
    expect(runningOf(pids)).toEqual([])
    expect(await filesLeft()).toEqual([])
  })

  test('by SIGTERM without a terminal does, too', async () => {
    const tour = new Program('start.js', SLOW, { TMPDIR: folder })
    await tour.says('reserveStock: started')

    const { code, out } = await tour.kill('SIGTERM')

    expect(code, out).toBe(130)
    const pids = pidsIn(out)
    expect(pids).toHaveLength(2)
    expect(runningOf(pids)).toEqual([])
    expect(await filesLeft()).toEqual([])
  })

  // The system tells it by SIGHUP.
  test('by closing its terminal does, too', async () => {
    const tour = inTerminal(80, 24, ...SLOW)
    const pids = pidsIn((await tour.shows('go on')).join('\n'))

    await tour.close()

    expect(pids).toHaveLength(2)
    await expect.poll(() => runningOf(pids)).toEqual([])
    await expect.poll(filesLeft).toEqual([])
  })

  test('because nobody reads what it prints does, too', async () => {
    const tour = new Program('start.js', SLOW, { TMPDIR: folder })
    await tour.says('Two processes work for it')

    const { out, code, err } = await tour.closeOutput()

    expect(code, err).toBe(130)
    const pids = pidsIn(out)
    expect(pids).toHaveLength(2)
    expect(runningOf(pids)).toEqual([])
    expect(await filesLeft()).toEqual([])
  })

  test('by kill -9 takes its workers and its server with it', async () => {
    const tour = new Program('start.js', SLOW, { TMPDIR: folder })
    await tour.says('reserveStock: started')

    const { out } = await tour.kill('SIGKILL')

    const pids = pidsIn(out)
    expect(pids).toHaveLength(2)
    await expect.poll(() => runningOf(pids)).toEqual([])
    await expect.poll(filesLeft).toEqual([])
  })
})

test('where no PostgreSQL can be started, one process shows the orders on PGlite, and says why', async () => {
  const database = join(folder, 'database')
  await createPgliteDirectory(database)
  const nowhere = { TMPDIR: join(folder, 'missing') }
  const { code, out, err } = await new Program('start.js', ['--pace', '0', '--folder', database], nowhere)
    .ended

  expect(code, out + err).toBe(0)
  expect(out).toContain('A PostgreSQL server cannot be started here (ENOENT')
  expect(out).toContain('run: compensated')
  expect(out).toContain('Every promise was kept.')
  expect(out).toContain('npm start -- media')
})

test.each([
  ['NO_COLOR', 'no colours in a terminal', { NO_COLOR: '1' }],
  ['TERM=dumb', 'plain lines in a terminal', { TERM: 'dumb' }],
])('%s: %s', async (name, _, environment) => {
  const list = new TerminalProgram('start.js', ['--list'], { columns: 80, rows: 24 }, environment)
  expect(await list.ended).toBe(0)
  expect(list.bytes, name).not.toContain(ESCAPE)
})

test('FORCE_COLOR: colours without a terminal', async () => {
  const { out } = await new Program('start.js', ['--list'], { FORCE_COLOR: '1' }).ended
  expect(out).toContain(`${ESCAPE}[36mnpm start`)
})
