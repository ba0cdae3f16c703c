import { define, type Engine } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { belay } from './setup/belay.ts'
import { orders } from './setup/orders.ts'
import { testStore } from './setup/store.ts'
import { inTerminal } from './setup/terminal.ts'

const parcel = define('parcel', { version: 1 })
  .waitForSignal('weighed')
  .step('post', { dependsOn: ['weighed'], run: () => 'posted' })

async function waitingParcel() {
  const store = await testStore()
  const worker: Engine = store.engine({ workflows: [parcel] })
  await worker.start()
  const run = await worker.run(parcel, undefined, { key: 'parcel:1' })
  await expect.poll(async () => (await run.status()).status).toBe('waiting')
  return { ...store, worker, run }
}

const FAST = ['--interval', '50ms']
/** The cursor is shown, and lines wrap. */
const RESTORED = '\u001b[?7h\u001b[?25h'

describe('belay watch', () => {
  it('draws the lanes again in place until the run has ended, and leaves the last frame without keys', async () => {
    const { env, run } = await waitingParcel()

    const terminal = inTerminal(['watch', 'parcel:1', ...FAST], env)
    await terminal.sees('q leave')
    expect(terminal.screen()).toMatch(
      /^◊ waiting {2}parcel\/parcel:1 {2}v1 {2}0:\d\d\n\n {2}◊ {2}weighed {2}waiting\n {2}· {2}post {5}pending\nq leave \(the run goes on\) {3}e explain {3}\? keys$/,
    )
    await run.signal('weighed', 1)

    expect(await terminal.status).toBe(0)
    expect(terminal.screen()).toMatch(
      /^● completed {2}parcel\/parcel:1 {2}v1 {2}0:\d\d\n\n {2}● {2}weighed {2}completed( {2}.*)?\n {2}● {2}post {5}completed {2}\d+(\.\d)? m?s$/,
    )
    expect(terminal.written().endsWith(RESTORED)).toBe(true)
    expect(terminal.isRaw()).toBe(false)
  })

  it('explains on e, names its keys on ?, and leaves on q', async () => {
    const { env, run } = await waitingParcel()

    const terminal = inTerminal(['watch', run.id, ...FAST], env)
    await terminal.sees('e explain')
    expect(terminal.isRaw()).toBe(true)
    terminal.press('e')
    await terminal.sees("belay signal parcel:1 weighed --data '{}'")
    terminal.press('?')
    await terminal.sees('q, Ctrl-C: leave')
    terminal.press('q')

    expect(await terminal.status).toBe(1)
    expect(terminal.screen()).toMatch(/post {5}pending\nThe run goes on: belay watch parcel:1$/)
    expect(terminal.written()).toContain(RESTORED)
    expect(terminal.isRaw()).toBe(false)
  })

  it.each(['a signal', 'a key'])('leaves the terminal as it was on Ctrl-C, given as %s', async (way) => {
    const { env } = await waitingParcel()

    const terminal = inTerminal(['watch', 'parcel:1'], env)
    await terminal.sees('q leave')
    if (way === 'a key') terminal.press('\u0003')
    else terminal.interrupt()

    expect(await terminal.status).toBe(1)
    expect(terminal.written()).toContain(RESTORED)
    expect(terminal.isRaw()).toBe(false)
  })

  it('shows of a large graph what fits, around the first step that is open', async () => {
    const store = await testStore()
    const names = Array.from({ length: 30 }, (_, n) => `step${n}`)
    const tall = define('tall', { version: 1 }).waitForSignal('go')
    const whole = names.reduce(
      (graph, name) => graph.step(name, { dependsOn: ['go'], run: () => 1 }) as never,
      tall,
    )
    const engine = store.engine()
    const { id } = await engine.run(whole, undefined)

    const terminal = inTerminal(['watch', id, ...FAST], store.env, { rows: 12 })
    await terminal.sees('24 more lines')
    terminal.press('q')
    await terminal.status

    expect(terminal.screen()).toContain('○      go      ready')
    expect(terminal.screen()).toContain('step1   pending')
    expect(terminal.screen()).not.toContain('step29')
  })

  it('tells the failure and the undo under the last frame, with exit status 1', async () => {
    const { env, order } = await orders()
    await order('order:9184', { route: 'express', stranded: true })

    const terminal = inTerminal(['watch', 'order:9184'], env)

    expect(await terminal.status).toBe(1)
    expect(terminal.screen()).toMatch(/\n {2}│ □ {4}reserveStock {2}compensated {2}\d+(\.\d)? m?s/)
    expect(terminal.screen()).toMatch(/\nbefore 2026-12-01\. Undone: 5 of 5\.$/)
  })

  it('ends where only an operator can go on', async () => {
    const { env, order } = await orders()
    await order('order:9185', { route: 'express', stranded: true, closed: true })

    const terminal = inTerminal(['watch', 'order:9185'], env)

    expect(await terminal.status).toBe(1)
    expect(terminal.screen()).toMatch(/An operator must repair it\.$/)
  })

  it('tells in sentences how the run is, then each change once', async () => {
    const { env, run } = await waitingParcel()

    const plain = inTerminal(['watch', 'parcel:1', '--plain'], env)
    const piped = inTerminal(['watch', 'parcel:1'], env, { pipe: true })
    for (const each of [plain, piped]) await each.sees('post: pending.')
    await run.signal('weighed', 1)

    expect([await plain.status, await piped.status]).toEqual([0, 0])
    expect(plain.written()).toMatch(
      /^Run \S+ of "parcel" \(version 1\), key parcel:1, is waiting\..*\nweighed: waiting\.\n/,
    )
    expect(plain.written().match(/^\d\d:\d\d:\d\d post completed\.$/gm)).toHaveLength(1)
    expect(plain.written()).toMatch(/The run is completed\.\n$/)
    expect(piped.written().match(/^\d{4}-\d\d-\d\dT\S+Z post completed\.$/gm)).toHaveLength(1)
    expect(plain.written()).not.toContain('\u001b')
  })

  it('tells a failure and the undo in sentences', async () => {
    const { env, worker } = await orders()
    const run = await worker.run('fulfil-order', { large: true, route: 'express', stranded: true })
    await expect.poll(async () => (await run.status()).status).toBe('waiting')

    const piped = inTerminal(['watch', run.id], env, { pipe: true })
    await piped.sees('shipped: pending.')
    await run.approve('approveOrder', { by: 'ada' })

    expect(await piped.status).toBe(1)
    expect(piped.written()).toMatch(/^\S+Z bookCourier failed, attempt 1: no courier before 2026-12-01\.$/m)
    expect(piped.written()).toMatch(/^\S+Z chargeCard was undone\.$/m)
    expect(piped.written().match(/Undone: 5 of 5\.\n$/g)).toHaveLength(1)
  })

  it('tells of a run that has ended how it ended', async () => {
    const { env, order } = await orders()
    await order('order:9184', { route: 'express', stranded: true })

    const { stdout, status } = await belay(['watch', 'order:9184', '--plain'], { env, columns: 80 })

    expect(stdout).toMatch(/\nbookCourier: failed, attempt 1; no courier before 2026-12-01\.\n/)
    expect(stdout.match(/Undone: 5 of 5\./g)).toHaveLength(1)
    expect(stdout).not.toMatch(/^\d\d:\d\d/m)
    expect(status).toBe(1)
  })

  it('writes the run after each change as NDJSON, without payloads', async () => {
    const { env, run } = await waitingParcel()

    const said = belay(['watch', run.id, '--json', ...FAST], { env })
    await run.signal('weighed', 'secret')

    const { stdout, status } = await said
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.at(-1)).toMatchObject({ id: run.id, status: 'completed' })
    expect(new Set(records.map(({ readAt, ...state }) => JSON.stringify(state))).size).toBe(records.length)
    expect(stdout).not.toContain('secret')
    expect(status).toBe(0)
  })

  it('follows all runs, those that need a person first, until somebody leaves', async () => {
    const { env, order, worker } = await orders()
    await order('order:9185', { route: 'express', stranded: true, closed: true })
    await order('order:9182', {})

    const terminal = inTerminal(['watch', '--all', ...FAST], env)
    await terminal.sees(/1 waiting {2}1 needs you/)
    expect(terminal.screen()).toMatch(
      /STATUS +RUN +KEY +WORKFLOW +AGE\n! compensation_failed .* order:9185 .*\n◊ waiting/,
    )
    await order('order:9190', {})
    await terminal.sees(/◊ waiting .* order:9190 +fulfil-order +0:\d\d/)
    await worker.runs.handle('fulfil-order', { key: 'order:9190' }).cancel()
    await terminal.sees(/cancelled .* order:9190/)
    terminal.press('q')

    expect(await terminal.status).toBe(0)
    expect(terminal.written().endsWith(RESTORED)).toBe(true)
  })

  it('wants one run or --all, and a duration', async () => {
    const { env, run } = await waitingParcel()

    const neither = await belay(['watch'], { env })
    const both = await belay(['watch', run.id, '--all'], { env })
    const never = await belay(['watch', run.id, '--interval', 'soon'], { env })

    expect([neither.stderr, neither.status]).toEqual([
      'Name one run, or give --all.\n  belay watch --all\n',
      2,
    ])
    expect(both.status).toBe(2)
    expect([never.status, never.stderr]).toEqual([2, expect.stringContaining('--interval')])
  })
})
