import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPgliteDirectory } from '@belay/postgres-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Program } from './program.ts'

// One story, told in order: each test continues with the folder that the previous one left.
describe('a start that is killed', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-examples-'))
    await createPgliteDirectory(join(folder, 'database'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  function start(paceMs: number): Program {
    const flags = ['--only', 'order', '--folder', join(folder, 'database'), '--pace', String(paceMs)]
    return new Program('start.js', flags)
  }

  test('continues after kill -9 without running completed steps again', async () => {
    const killed = start(100)
    await killed.says('chargeCard: completed')
    expect((await killed.kill('SIGKILL')).signal).toBe('SIGKILL')

    const resumed = start(100)
    await resumed.says('sendMail: attempt 1 failed')
    const { code, out } = await resumed.kill('SIGINT')

    expect(out).toContain('Resuming order-1-a')
    expect(out).toContain('Already done, and not run again: checkFraud, reserveStock, chargeCard')
    const [first] = out.split('Order 2 of 2')
    expect(first).not.toMatch(/(checkFraud|reserveStock|chargeCard): started/)
    expect(first).toContain('run: completed')
    // Ctrl-C ends it gracefully, half-way through the second order.
    expect(code, out).toBe(130)
    expect(out).toContain('Run the same command again to continue from here.')
  })

  test('continues after Ctrl-C, and keeps every promise', async () => {
    const { code, out, err } = await start(0).ended

    expect(code, out + err).toBe(0)
    expect(out).toContain('earlier start already finished order-1-a: completed. It is not run again.')
    expect(out).toContain('Resuming order-1-b')
    expect(out).not.toContain('✘')
  })

  test('finishes the undo that kill -9 interrupted', async () => {
    // The second showing, because the first has ended.
    const killed = start(100)
    await killed.says('issueInvoice: undone')
    expect((await killed.kill('SIGKILL')).signal).toBe('SIGKILL')

    const { code, out, err } = await start(0).ended

    expect(code, out + err).toBe(0)
    expect(out).toMatch(/earlier start already finished order-\d+-a: completed/)
    expect(out).toMatch(/Resuming order-\d+-b, which an earlier start left (compensating|compensated)/)
    expect(out).not.toMatch(/(updateAnalytics|issueInvoice): undo started/)
    expect(out).toContain('Every promise was kept.')
    expect(out).not.toContain('\u001b')
  })
})
