import { define, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { engines } from './bench-of-engines.ts'

const parcel = define('parcel', {
  version: 1,
  input: z.object({ pieces: z.coerce.number() }),
  deadline: '1d',
})
  .step('pack', { run: ({ input }) => `packed ${input.pieces}` })
  .waitForSignal('paid', { dependsOn: ['pack'], schema: z.object({ amount: z.coerce.number() }) })
  .approval('leaves', { dependsOn: ['paid'] })

const PATIENT = { tick: '1m', lease: '1d' } as const

describe('a run that is started by the name of its workflow', () => {
  it('is checked if the engine has the definition', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [parcel], ...PATIENT })

    const run = await engine.run('parcel', { pieces: '2' }, { key: 'p1' })

    await clock.advance('1s')
    expect(run).toMatchObject({ created: true, checked: true })
    expect(await run.status()).toMatchObject({ input: { pieces: 2 }, key: 'p1', version: 1 })
    expect((await run.status()).deadlineAt).toBeInstanceOf(Date)
    await expect(engine.run('parcel', { pieces: 'two' })).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('names the nearest workflow of a live worker, or the versions that there are, if it is unknown', async () => {
    const { worker, engine } = engines()
    await worker({ workflows: [parcel], ...PATIENT })

    await expect(engine().run('parsel')).rejects.toThrow(
      /there is no workflow "parsel" .* Did you mean "parcel"\?/,
    )
    await expect(engine().run('parcel', {}, { version: 3 })).rejects.toThrow(
      /no version 3 of workflow "parcel" .* There is version 1\./,
    )
  })

  it('is stored unchecked, and says so, if only the store has the definition', async () => {
    const { clock, worker, engine } = engines()
    await worker({ workflows: [parcel], ...PATIENT })
    const cli = engine()
    const started: unknown[] = []
    cli.on('run.started', (event) => started.push(event))

    const run = await cli.run('parcel', { pieces: 'two' })

    await clock.advance('1s')
    expect(run).toMatchObject({ created: true, checked: false })
    const { input, deadlineAt, steps } = await run.status()
    expect({ input, deadlineAt, output: steps[0]?.output }).toEqual({
      input: { pieces: 'two' },
      deadlineAt: undefined,
      output: 'packed two',
    })
    expect(started).toEqual([expect.objectContaining({ runId: run.id, workflow: 'parcel', version: 1 })])
  })

  it('has the engine’s highest version, else the highest stored version, or the requested one', async () => {
    const { engine } = engines()
    const version = (number: number) =>
      define('parcel', { version: number, input: unchecked<unknown>() }).step('pack', { run: () => number })
    const [one, two, three] = [version(1), version(2), version(3)]
    const newest = engine({ workflows: [three] })
    await newest.run(three)
    const older = engine({ workflows: [one, two] })
    const none = engine()
    const versionOf = async (run: { status(): Promise<{ version: number }> }) => (await run.status()).version

    expect(await versionOf(await older.run('parcel'))).toBe(2)
    expect(await versionOf(await older.run('parcel', undefined, { version: 1 }))).toBe(1)
    expect(await versionOf(await older.run('parcel', undefined, { version: 3 }))).toBe(3)
    expect(await versionOf(await none.run('parcel'))).toBe(3)
    expect(await versionOf(await none.run('parcel', undefined, { version: 2 }))).toBe(2)
  })

  it('is found by its key, however it was started, and by whom', async () => {
    const { worker, engine } = engines()
    const engineWithIt = await worker({ workflows: [parcel], ...PATIENT })
    const first = await engineWithIt.run(parcel, { pieces: 2 }, { key: 'p1' })

    const again = await engine().run('parcel', { pieces: 2 }, { key: 'p1' })

    expect(again).toMatchObject({ id: first.id, created: false })
    await expect(engine().run('parcel', { pieces: 3 }, { key: 'p1' })).rejects.toMatchObject({
      code: 'key_conflict',
    })
  })

  it('may be part of a transaction', async () => {
    const { adapter, engine } = engines()
    const cli = engine()

    const runs = await adapter.transaction(async (tx) => {
      await expect(cli.run('parcel', {}, { tx })).rejects.toMatchObject({ code: 'unknown_workflow' })
      const first = await cli.run(parcel, { pieces: 1 }, { tx })
      return [first, await engine().run('parcel', { pieces: 2 }, { tx })]
    })

    for (const run of runs) expect(await run.status()).toMatchObject({ workflow: 'parcel', version: 1 })
  })

  it('is refused if nobody knows the name or the version, with the nearest name', async () => {
    const { worker } = engines()
    const engine = await worker({ workflows: [parcel], ...PATIENT })

    await expect(engine.run('parsel')).rejects.toMatchObject({
      code: 'unknown_workflow',
      message: expect.stringMatching(/there is no workflow "parsel" .* Did you mean "parcel"\?/),
    })
    await expect(engine.run('parcel', {}, { version: 7 })).rejects.toThrow(
      'there is no version 7 of workflow "parcel"',
    )
    for (const version of [0, 1.5, '1', null]) {
      const refused = { code: 'invalid_option' }
      await expect(engine.run('parcel', {}, { version: version as never })).rejects.toMatchObject(refused)
    }
    await expect(engine.run('')).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describe('a signal or a decision for a run whose definition only the store knows', () => {
  it('is accepted unchecked, and the receipt says so', async () => {
    const { clock, worker, engine } = engines()
    const owner = await worker({ workflows: [parcel], ...PATIENT })
    const run = await owner.run(parcel, { pieces: 1 }, { key: 'p1' })
    const cli = engine()
    await clock.advance('1s')

    const signalled = await cli.signal({ workflow: 'parcel', key: 'p1' }, 'paid', { amount: '7' })
    await clock.advance('1s')
    const approved = await cli.approve({ workflow: 'parcel', key: 'p1' }, 'leaves', { by: 'ann' })

    expect(signalled).toMatchObject({ runId: run.id, result: 'delivered', checked: false })
    expect(approved).toMatchObject({ runId: run.id, result: 'delivered', checked: false })
    expect(await clock.runUntil(run.result())).toMatchObject({
      paid: { amount: '7' },
      leaves: { approved: true, by: 'ann' },
    })
  })

  it('is checked if the engine has the definition', async () => {
    const { clock, worker } = engines()
    const engine = await worker({ workflows: [parcel], ...PATIENT })
    const run = await engine.run('parcel', { pieces: 1 }, { key: 'p1' })
    await clock.advance('1s')

    const sending = engine.signal({ workflow: 'parcel', key: 'p1' }, 'paid', { amount: 'seven' })
    await expect(sending).rejects.toMatchObject({ code: 'invalid_input' })
    const receipt = await engine.signal({ workflow: 'parcel', key: 'p1' }, 'paid', { amount: '7' })

    expect(receipt).toMatchObject({ runId: run.id, checked: true })
    await clock.advance('1s')
    expect((await run.status()).steps[1]?.output).toEqual({ amount: 7 })
  })

  it('may be part of a transaction in which the run and its definition were stored', async () => {
    const { adapter, clock, engine, worker } = engines()
    const cli = engine()

    const run = await adapter.transaction(async (tx) => {
      const started = await engine().run(parcel, { pieces: 1 }, { key: 'p1', tx })
      const receipt = await cli.signal({ workflow: 'parcel', key: 'p1' }, 'paid', { amount: 7 }, { tx })
      expect(receipt).toMatchObject({ runId: started.id, result: 'kept', checked: false })
      return started
    })

    await worker({ workflows: [parcel], ...PATIENT })
    await clock.advance('1s')
    expect((await run.status()).steps.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'waiting',
    ])
  })
})
