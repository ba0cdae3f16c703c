import { define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { engines } from './bench-of-engines.ts'

describe('moving a run to another version', () => {
  it('continues with the new handlers, and with the outputs of ended steps', async () => {
    const { clock, worker, engine } = engines()
    const one = define('moved', { version: 1 })
      .step('a', { run: () => 'A' })
      .step('z', {
        dependsOn: ['a'],
        retry: { attempts: 2, initial: '1h', max: '1h' },
        run: (): string => {
          throw new Error('a mistake of version 1')
        },
      })
    const two = define('moved', { version: 2 })
      .step('a', { run: () => 'never run' })
      .step('m', { dependsOn: ['a'], run: ({ deps }) => `${deps.a}M` })
      .step('z', { dependsOn: ['m'], run: ({ deps }) => `${deps.m}Z` })
    const old = await worker({ workflows: [one] })
    const run = await old.run(one, undefined)
    await clock.advance('1s')

    await worker({ workflows: [two] })
    expect(await engine().migrateRun(run, two, { by: 'ann' })).toBe(true)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'A', m: 'AM', z: 'AMZ' })
    expect((await run.status()).version).toBe(2)
    expect(await run.history()).toMatchObject([
      { action: 'migrate', by: 'ann', change: { version: { from: 1, to: 2 }, added: ['m'], removed: [] } },
    ])
  })

  it('a worker that cached outputs by their old numbers gives the new version the right ones', async () => {
    const { clock, worker } = engines()
    const one = define('numbers', { version: 1 })
      .step('a', { run: () => 'A' })
      .step('b', { run: () => 'B' })
      .step('c', { run: () => 'C' })
      .step('z', {
        dependsOn: ['a', 'b', 'c'],
        retry: { attempts: 2, initial: '1h', max: '1h' },
        run: (): string => {
          throw new Error('no')
        },
      })
    const two = define('numbers', { version: 2 })
      .step('a', { run: () => 'never run' })
      .step('aa', { run: () => 'AA' })
      .step('b', { run: () => 'never run' })
      .step('c', { run: () => 'never run' })
      .step('z', { dependsOn: ['a', 'b'], run: ({ deps }) => `${deps.a}${deps.b}` })
    const engine = await worker({ workflows: [one, two] })
    const run = await engine.run(one, undefined)
    await clock.advance('1s')

    await engine.migrateRun(run, two)

    expect(await clock.runUntil(run.result())).toEqual({ a: 'A', aa: 'AA', b: 'B', c: 'C', z: 'AB' })
  })

  it('says why a run cannot move, and refuses a value that is not a definition', async () => {
    const { clock, engine, worker, sleep } = engines()
    const one = define('stuck', { version: 1 }).step('a', { run: () => sleep(10_000) })
    const two = define('stuck', { version: 2 }).step('b', { run: () => 1 })
    const working = await worker({ workflows: [one] })
    const run = await working.run(one, undefined)
    await clock.advance('1s')

    await expect(engine().migrateRun(run, two)).rejects.toMatchObject({
      code: 'action_refused',
      message: `Run ${run.id} cannot be moved to "stuck" version 2: step "a" is running.`,
    })
    await expect(engine().migrateRun(run, 'stuck' as never)).rejects.toMatchObject({
      code: 'unknown_workflow',
    })
    await expect(engine().migrateRun('run 7', two)).rejects.toMatchObject({ code: 'invalid_option' })
  })
})
