import { fileURLToPath } from 'node:url'
import { define } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { program, terminal } from './setup/pty.ts'
import { bank, fulfilOrder, shop } from './setup/shop.ts'
import { testStore } from './setup/store.ts'

const BELAY = `${process.execPath} ${fileURLToPath(new URL('../bundle/bin.js', import.meta.url))}`

/** What one command shows at a terminal of 80 columns, and its exit status. */
async function typed(env: Readonly<Record<string, string>>, ...argv: string[]) {
  const shell = terminal(argv, { env })
  const status = await shell.exit
  return { screen: shell.screen(), status }
}

const ESCAPE = '\u001b['

describe('an operator', () => {
  it('finds an order by its key, understands it, and repairs its parked undo', async () => {
    const { env } = await shop()

    const home = await typed(env)
    expect(home.screen).toMatch(/needs you {3}! order:9185 {2}chargeCard: its undo failed for good/)
    const why = await typed(env, 'explain', 'order:9185')
    expect(why.screen).toContain("belay undo retry order:9185 chargeCard --reason '…'")
    bank.refunds = 'open'
    const repaired = await typed(
      env,
      'undo',
      'retry',
      'order:9185',
      'chargeCard',
      '--reason',
      'refunds are open',
    )
    expect(repaired).toMatchObject({
      status: 0,
      screen: expect.stringMatching(/^chargeCard: compensation_failed → compensating, as /),
    })
    const watched = await typed(env, 'watch', 'order:9185')

    expect(watched.status).toBe(1)
    expect(watched.screen).toMatch(/^□ compensated {2}fulfil-order\/order:9185/m)
    expect((await typed(env, 'history', 'order:9185')).screen).toContain('refunds are open')
    expect((await typed(env)).screen).not.toContain('order:9185')
  })

  it('approves what waits for a person, and the run goes on', async () => {
    const { env, runs } = await shop()

    expect((await typed(env, 'approvals')).screen).toMatch(/order:9183.*approveOrder/)
    const approved = await typed(
      env,
      'approve',
      'order:9183',
      'approveOrder',
      '--comment',
      'known customer',
      '--by',
      'ann',
    )

    expect(approved).toEqual({ status: 0, screen: 'delivered: approved by ann' })
    await vi.waitFor(
      async () =>
        expect(
          (await runs['order:9183'].status()).steps.find(({ name }) => name === 'chargeCard')?.status,
        ).toBe('completed'),
      10_000,
    )
    expect((await typed(env, 'approvals')).screen).not.toContain('order:9183')
  })

  it('rejects it, and the run is undone', async () => {
    const { env, runs } = await shop()

    expect(await typed(env, 'reject', 'order:9183', 'approveOrder', '--comment', 'too much')).toMatchObject({
      status: 0,
    })

    await runs['order:9183'].result().catch(() => {})
    expect((await typed(env, 'show', 'order:9183')).screen).toMatch(/^□ compensated/)
  })

  it('sends a signal that nobody checks, knowingly, and sees the run complete', async () => {
    const { env } = await shop()

    const sent = await typed(
      env,
      'signal',
      'order:9182',
      'shipped',
      '--data',
      '{"tracking":"T1"}',
      '--unchecked',
    )
    const watched = await typed(env, 'watch', 'order:9182')

    expect(sent).toEqual({ status: 0, screen: 'delivered: "shipped" goes on' })
    expect(watched).toMatchObject({ status: 0, screen: expect.stringMatching(/^● completed/m) })
  })

  it('pauses a run and resumes it', async () => {
    const { env, runs } = await shop()

    expect(await typed(env, 'pause', 'order:9182')).toMatchObject({
      status: 0,
      screen: expect.stringContaining('waiting → paused'),
    })
    expect((await runs['order:9182'].status()).status).toBe('paused')
    expect((await typed(env, 'list', '--status', 'paused')).screen).toContain('order:9182')
    expect(await typed(env, 'resume', 'order:9182')).toMatchObject({ status: 0 })
    expect((await runs['order:9182'].status()).status).toBe('waiting')
  })

  it('cancels an order with its undo, and follows it to its end', async () => {
    const { env } = await shop()
    bank.refunds = 'open'

    expect(await typed(env, 'cancel', 'order:9182', '--reason', 'customer called')).toMatchObject({
      status: 0,
    })
    const watched = await typed(env, 'watch', 'order:9182')

    expect(watched.screen).toMatch(/^\/ cancelled/m)
    expect(watched.status).toBe(1)
  })

  it('previews a schedule in its own zone', async () => {
    const store = await testStore()
    const report = define('nightly-report', { version: 1 }).step('build', { run: () => 1 })
    const engine = store.engine()
    await engine.schedules.put('nightly-report', {
      workflow: report,
      cron: '0 3 * * *',
      timeZone: 'Europe/Zurich',
      input: null,
    })

    const { screen, status } = await typed(
      store.env,
      'schedules',
      'preview',
      'nightly-report',
      '--count',
      '2',
    )

    expect(status).toBe(0)
    expect(screen.split('\n')).toHaveLength(2)
    expect(screen).toMatch(/^\d{4}-\d\d-\d\d 03:00 Europe\/Zurich +0[12]:00 UTC +in /)
  })

  it('kills the worker, and doctor says which runs wait for one', async () => {
    const store = await testStore()
    const engine = store.engine()
    await engine.run(fulfilOrder, { items: ['a'] }, { key: 'order:1' })

    const { screen, status } = await typed(store.env, 'doctor')

    expect(status).toBe(1)
    expect(screen.replaceAll(/\s+/g, ' ')).toContain(
      'No worker is live: 1 run of workflow "fulfil-order" version 3',
    )
    expect(screen).toContain('1 finding.')
  })

  it('pipes runs into other programs', async () => {
    const { env } = await shop()
    const shell = (command: string) =>
      program('/bin/sh', ['-c', command.replaceAll('belay ', `${BELAY} `)], { env, columns: 200 })

    const first = shell('belay list | head -1 | cut -f3')
    expect([await first.exit, first.screen()]).toEqual([0, 'order:9185'])
    const exported = shell('belay export --workflow fulfil-order | wc -l')
    expect(await exported.exit).toBe(0)
    expect(exported.screen()).toMatch(/^ *4$/m)
    const piped = shell("belay list --status waiting | cut -f2 | belay cancel - --reason 'closing' --dry-run")
    expect(await piped.exit).toBe(0)
    expect(piped.screen()).toMatch(/2 {2}would be cancelled|2 +would be/)
  })
})

describe('a terminal', () => {
  it('gets colours beside the words, unless NO_COLOR, TERM=dumb or --no-color say otherwise', async () => {
    const { env } = await shop()
    const written = async (more: Record<string, string>, ...argv: string[]) => {
      const shell = terminal(['list', ...argv], { env: { ...env, ...more } })
      await shell.exit
      return shell.written()
    }

    expect(await written({ NO_COLOR: '' })).toContain(`${ESCAPE}3`)
    expect(await written({ NO_COLOR: '1' })).not.toContain(ESCAPE)
    expect(await written({ NO_COLOR: '', TERM: 'dumb' })).not.toContain(ESCAPE)
    expect(await written({ NO_COLOR: '' }, '--no-color')).not.toContain(ESCAPE)
    expect(await written({ NO_COLOR: '' }, '--plain')).not.toMatch(/[►●□◊!]/)
    expect(await written({ NO_COLOR: '' }, '--ascii')).not.toMatch(/[►●□◊]/)
  })

  it('is left as it was by Ctrl-C while a run is watched', async () => {
    const { env } = await shop()
    const shell = terminal(['watch', 'order:9182'], { env })
    await shell.sees(/shipped +waiting/)

    shell.type('\u0003')

    expect(await shell.exit).not.toBe(3)
    expect(shell.showsCursor()).toBe(true)
    expect(shell.written()).not.toContain('\u001b[?1049h')
  })

  it.each([80, 120])('of %i columns is never overrun', async (columns) => {
    const { env } = await shop()

    for (const argv of [
      [],
      ['list'],
      ['show', 'order:9182'],
      ['explain', 'order:9185'],
      ['doctor'],
      ['workers'],
    ]) {
      const shell = terminal(argv, { env, columns })
      await shell.exit
      expect([argv, shell.overruns()]).toEqual([argv, []])
    }
  })
})

/** What must never reach a terminal: commands to it, and marks that reorder what follows. */
const COMMANDS = '\u001b]0;owned\u0007\u001b[2J\u009b31m\r\u202egpj\u2066x\u200f\u0085'

/** The characters that a terminal would obey, and the commands with which `belay` itself redraws. */
const OBEYED = /[^\P{C}\n\r\t\u200d]/gu
const OWN = new RegExp(`${ESCAPE.replace('[', '\\[')}(?:\\?(?:25|7)[hl]|\\d*[ABGJK]|\\d*;?\\d*H)`, 'g')

describe('texts of users', () => {
  it('never reach the terminal as commands', async () => {
    const store = await testStore()
    const hostile = define('hostile', { version: 1 })
      .map('pack', {
        over: () => [COMMANDS],
        itemKey: (item) => item,
        retry: false,
        run: () => Promise.reject(new Error(`${COMMANDS}${'x'.repeat(10_000)} 👩‍👩‍👧 שלום`)),
      })
      .step('after', { dependsOn: ['pack'], run: () => 1 })
    const engine = store.engine({ workflows: [hostile], name: COMMANDS })
    await engine.start()
    const run = await engine.run(
      hostile,
      { text: COMMANDS },
      { key: `k ${COMMANDS} 👩‍👩‍👧`, tags: [COMMANDS] },
    )
    await run.result().catch(() => {})
    await run.retry({ by: COMMANDS, reason: COMMANDS })
    await run.result().catch(() => {})

    for (const argv of [
      [],
      ['list'],
      ['list', '--fields', 'id,tags,key'],
      ['show', run.id],
      ['show', run.id, '--graph'],
      ['watch', run.id],
      ['explain', run.id],
      ['history', run.id],
      ['doctor'],
      ['workers'],
      ['retry', run.id, '--reason', 'again', '--dry-run'],
    ]) {
      const shell = terminal(argv, { env: store.env })
      await shell.exit
      const written = shell.written().replaceAll(OWN, '')
      expect([argv, [...new Set(written.match(OBEYED))]]).toEqual([argv, []])
      expect([argv, shell.overruns()]).toEqual([argv, []])
    }
  })
})
