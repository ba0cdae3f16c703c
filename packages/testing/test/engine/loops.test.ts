import { createEngine, define, PermanentError, unchecked } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { assertInvariants, memory } from '../../src/index.ts'

interface Page {
  readonly cursor: number
  readonly rows: readonly string[]
}

interface Options {
  readonly pages: number
  readonly max?: number
  readonly delay?: '1h'
  readonly failsAt?: number
  readonly fails?: 'until' | 'delay'
  readonly publishes?: boolean
}

function importing(options: Options) {
  const happened: string[] = []
  const failing = { at: options.failsAt }
  const adapter = memory()
  const workflow = define('import', { version: 1, input: unchecked<{ size: number }>(), retry: false })
    .step('open', { run: () => 'opened', compensate: () => void happened.push('close') })
    .repeat('fetch', {
      dependsOn: ['open'],
      first: ({ deps }): Page => ({ cursor: 0, rows: [deps.open] }),
      run: async ({ round, last, idempotencyKey }) => {
        if (round === failing.at) throw new PermanentError('broken')
        happened.push(`fetch ${idempotencyKey.split(':').slice(1).join(':')} after ${last.cursor}`)
        return { cursor: last.cursor + 1, rows: [`row ${round}`] }
      },
      until: ({ output }) => {
        if (options.fails === 'until' && output.cursor === 2) throw new Error('until is broken')
        return output.cursor === options.pages
      },
      max: options.max,
      delay:
        options.fails === 'delay'
          ? () => {
              throw new Error('delay is broken')
            }
          : options.delay,
      compensate: ({ round, last, output, error }) =>
        void happened.push(`undo ${round} after ${last.cursor}: ${output?.cursor ?? error?.message}`),
    })
    .step('publish', {
      dependsOn: ['fetch'],
      run: ({ deps }) => {
        if (options.publishes === false) throw new PermanentError('refused')
        return deps.fetch.cursor
      },
    })
  return { adapter, workflow, happened, failing }
}

async function perform(options: Options, during?: (runId: string, made: Made) => Promise<unknown>) {
  const made = importing(options)
  const { adapter, workflow, happened } = made
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const run = await engine.run(workflow, { size: 2 })
  if (during !== undefined) await during(run.id, { ...made, engine })
  const result = run.result()
  result.catch(() => {})
  await adapter.clock.runUntil(result.then(String, String))
  const outputs = await result.catch((error: Error) => error)
  const snapshot = await engine.runs.get(run.id)
  await adapter.clock.runUntil(engine.close())
  assertInvariants(adapter.dump())
  return { outputs, snapshot, happened, took: adapter.clock.now() - snapshot!.createdAt.getTime() }
}

type Made = ReturnType<typeof importing> & { readonly engine: ReturnType<typeof createEngine> }

describe('a loop', () => {
  it('runs its handler until until says so, each round with the output of the one before', async () => {
    const { outputs, happened, snapshot } = await perform({ pages: 3 })
    expect(outputs).toEqual({ open: 'opened', fetch: { cursor: 3, rows: ['row 3'] }, publish: 3 })
    expect(happened).toEqual(['fetch fetch[1] after 0', 'fetch fetch[2] after 1', 'fetch fetch[3] after 2'])
    expect(snapshot?.steps.map(({ name }) => name)).toEqual([
      'open',
      'fetch[]',
      'fetch',
      'publish',
      'fetch[1]',
      'fetch[2]',
      'fetch[3]',
    ])
  })

  it('has no output before its first round without first, and undefined is an output', async () => {
    const seen: unknown[] = []
    const workflow = define('w', { version: 1 }).repeat('a', {
      run: ({ last, round }) => {
        seen.push(last)
        return round === 3 ? undefined : round
      },
      until: async ({ round }) => round === 4,
    })
    const adapter = memory()
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow, null)
    expect(await adapter.clock.runUntil(run.result())).toEqual({ a: 4 })
    expect(seen).toEqual([undefined, 1, 2, undefined])
    await adapter.clock.runUntil(engine.close())
  })

  it('is undone from its last round to its first, and then what it depends on', async () => {
    const { snapshot, happened } = await perform({ pages: 3, publishes: false })
    expect(snapshot?.status).toBe('compensated')
    expect(happened.slice(3)).toEqual([
      'undo 3 after 2: 3',
      'undo 2 after 1: 2',
      'undo 1 after 0: 1',
      'close',
    ])
  })

  it('fails with a round that fails for good, and undoes the rounds before it', async () => {
    const { outputs, happened } = await perform({ pages: 5, failsAt: 3 })
    expect(outputs).toMatchObject({ message: expect.stringContaining('fetch[3]') })
    expect(happened.slice(2)).toEqual(['undo 2 after 1: 2', 'undo 1 after 0: 1', 'close'])
  })

  it('fails with its last round if max rounds were not enough, and that round is undone too', async () => {
    const { outputs, happened } = await perform({ pages: 5, max: 2 })
    const message =
      'Step "fetch[2]" of run RUN was the last of 2 rounds allowed, and until has not returned true. Raise max, or let until end the loop earlier.'
    expect(outputs).toMatchObject({ step: 'fetch[2]', reason: { error: { code: 'rounds_exhausted' } } })
    expect(happened[2]!.replace(/run \S+/, 'run RUN')).toBe(`undo 2 after 1: ${message}`)
    expect(happened.slice(3)).toEqual(['undo 1 after 0: 1', 'close'])
  })

  it.each(['until', 'delay'] as const)(
    'undoes a round whose %s throws, and does not retry it',
    async (fails) => {
      const { happened } = await perform({ pages: 5, fails })
      const undone = happened.filter((what) => what.startsWith('undo'))
      expect(undone[0]).toContain(`${fails} is broken`)
      expect(undone).toHaveLength(fails === 'until' ? 2 : 1)
      expect(happened.filter((what) => what.startsWith('fetch'))).toHaveLength(undone.length)
    },
  )

  it('waits for its delay between two rounds', async () => {
    const { took, outputs } = await perform({ pages: 3, delay: '1h' })
    expect(outputs).toMatchObject({ publish: 3 })
    expect(took).toBeGreaterThanOrEqual(2 * 3_600_000)
    expect(took).toBeLessThan(2 * 3_600_000 + 60_000)
  })

  it('is explained by the round that is awaited', async () => {
    const sentences: string[] = []
    await perform({ pages: 2, delay: '1h' }, async (runId, { engine, adapter }) => {
      await adapter.clock.advance(60_000)
      const { steps } = (await engine.explain(runId))!
      sentences.push(...steps.map(({ sentence }) => sentence))
    })
    expect(sentences[0]).toMatch(/^"fetch\[2\]" begins at .*\.$/)
    expect(sentences).toContain('"fetch" waits for "fetch[2]" (ready).')
  })
})

/** An engine over a loop of five rounds that fails as long as its names are in `failing`, with or without compensations. */
async function operated(compensates: boolean) {
  const adapter = memory()
  const calls: string[] = []
  const failing = new Set<string>()
  const fail = (name: string) => {
    if (failing.has(name)) throw new PermanentError(`cannot run ${name}`)
  }
  const undo = ({ round }: { readonly round: number }) => void calls.push(`undo ${round}`)
  const options = { compensate: compensates ? undo : undefined } as { compensate: typeof undo }
  const workflow = define('w', { version: 1, retry: false })
    .repeat('count', {
      first: () => 0,
      run: ({ last, step, idempotencyKey }) => {
        fail(step)
        calls.push(idempotencyKey.replace(/^[^:]*:/, ''))
        return last + 1
      },
      until: ({ output }) => output >= 5,
      ...options,
    })
    .step('publish', {
      dependsOn: ['count'],
      run: ({ deps }) => {
        fail('publish')
        return deps.count
      },
    })
  const engine = createEngine({ adapter, workflows: [workflow] })
  await engine.start()
  const over = async (run: { result(): Promise<unknown> }) => {
    const result = run.result()
    await adapter.clock.runUntil(result.then(String, String))
    assertInvariants(adapter.dump())
    return result.catch((error: Error) => error.message)
  }
  return { engine, workflow, calls, failing, adapter, over }
}

describe('an operator on a loop', () => {
  it('retries the run: rounds that completed and were not undone are kept', async () => {
    const { engine, workflow, calls, failing, adapter, over } = await operated(false)
    failing.add('count[3]')
    const run = await engine.run(workflow, null)
    expect(await over(run)).toMatch(/cannot run count\[3\]/)
    failing.clear()
    failing.add('publish')
    await run.retry()
    expect(await over(run)).toMatch(/cannot run publish/)
    failing.clear()
    await run.retry()
    expect(await over(run)).toEqual({ count: 5, publish: 5 })
    expect(calls).toEqual([1, 2, 3, 4, 5].map((round) => `count[${round}]`))
    await adapter.clock.runUntil(engine.close())
  })

  it('retries the run: a loop that was undone begins with its first round, with other idempotency keys', async () => {
    const { engine, workflow, calls, failing, adapter, over } = await operated(true)
    failing.add('count[3]')
    const run = await engine.run(workflow, null)
    await over(run)
    failing.clear()
    failing.add('publish')
    await run.retry()
    await over(run)
    failing.clear()
    await run.retry()
    expect(await over(run)).toEqual({ count: 5, publish: 5 })
    const rounds = [1, 2, 3, 4, 5]
    expect(calls).toEqual([
      ...['count[1]', 'count[2]', 'undo 2', 'undo 1'],
      ...rounds.map((round) => `count[${round}]:2`),
      ...rounds.toReversed().map((round) => `undo ${round}`),
      ...rounds.map((round) => `count[${round}]:3`),
    ])
    await adapter.clock.runUntil(engine.close())
  })

  it('skips the round that failed: the loop ends there, with the stand-in as its output', async () => {
    const { engine, workflow, calls, failing, adapter, over } = await operated(false)
    failing.add('count[3]')
    const run = await engine.run(workflow, null)
    await over(run)
    await run.skipStep('count[3]', { output: 40 })
    expect(await over(run)).toEqual({ count: 40, publish: 40 })
    expect(calls).toEqual(['count[1]', 'count[2]'])
    await adapter.clock.runUntil(engine.close())
  })

  it('may not skip the step that begins the loop', async () => {
    const { engine, workflow, failing, adapter, over } = await operated(false)
    failing.add('count[1]')
    const run = await engine.run(workflow, null)
    await over(run)
    const opener = 'count[]' as 'count'
    await expect(run.skipStep(opener, { output: 1 })).rejects.toThrow(/begins a loop/)
    await adapter.clock.runUntil(engine.close())
  })
})

describe('a round', () => {
  it('is retried alone, with the same key and the same output of the round before', async () => {
    const adapter = memory()
    const calls: string[] = []
    const workflow = define('w', { version: 1 })
      .step('base', { run: () => 10 })
      .repeat('add', {
        dependsOn: ['base'],
        first: ({ deps }) => deps.base,
        retry: { attempts: 3 },
        run: ({ last, round, attempt, idempotencyKey, deps }) => {
          calls.push(`${idempotencyKey.split(':')[1]} ${attempt} ${last} ${deps.base}`)
          if (round === 2 && attempt < 3) throw new Error('busy')
          return last + 1
        },
        until: ({ output, deps }) => output === deps.base + 4,
      })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow, null)
    expect(await adapter.clock.runUntil(run.result())).toMatchObject({ add: 14 })
    expect(calls).toEqual([
      'add[1] 1 10 10',
      'add[2] 1 11 10',
      'add[2] 2 11 10',
      'add[2] 3 11 10',
      'add[3] 1 12 10',
      'add[4] 1 13 10',
    ])
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })

  it('is not there if the loop is skipped', async () => {
    const adapter = memory()
    const workflow = define('w', { version: 1 })
      .repeat('skipped', { when: () => false, run: () => 1, until: () => true })
      .step('after', {
        dependsOn: ['skipped'],
        onSkipped: 'run',
        run: ({ deps }) => String(deps.skipped),
      })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow, null)
    expect(await adapter.clock.runUntil(run.result())).toEqual({ after: 'undefined' })
    const snapshot = await engine.runs.get(run.id)
    expect(snapshot?.steps.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'skipped[] skipped',
      'skipped skipped',
      'after completed',
    ])
    await adapter.clock.runUntil(engine.close())
  })

  it('without a compensation takes no part in the undo', async () => {
    const adapter = memory()
    const undone: string[] = []
    const workflow = define('w', { version: 1, retry: false })
      .step('before', { run: () => 1, compensate: () => void undone.push('before') })
      .repeat('count', {
        dependsOn: ['before'],
        run: ({ round }) => round,
        until: ({ round }) => round === 3,
      })
      .step('after', {
        dependsOn: ['count'],
        run: () => 1,
        compensate: () => void undone.push('after'),
      })
      .step('fails', {
        dependsOn: ['after'],
        run: () => {
          throw new PermanentError('refused')
        },
      })
    const engine = createEngine({ adapter, workflows: [workflow] })
    await engine.start()
    const run = await engine.run(workflow, null)
    await adapter.clock.runUntil(run.result().catch(() => {}))
    expect(undone).toEqual(['after', 'before'])
    const rounds = (await adapter.readRun(run.id))!.steps.filter(({ itemKey }) => itemKey !== undefined)
    // A relay would have been claimed once more.
    expect(rounds.map(({ status, fence }) => [status, fence])).toEqual([
      ['completed', 1],
      ['completed', 2],
      ['completed', 3],
    ])
    await adapter.clock.runUntil(engine.close())
    assertInvariants(adapter.dump())
  })

  it('keeps its run in its version', async () => {
    const adapter = memory()
    const loop = (version: number) =>
      define('w', { version }).repeat('count', {
        run: ({ round }) => round,
        until: ({ round }) => round === 3,
        delay: '1h',
      })
    const engine = createEngine({ adapter, workflows: [loop(1), loop(2)] })
    await engine.start()
    const run = await engine.run(loop(1), null)
    await adapter.clock.advance(1_000)
    await expect(engine.migrateRun(run.id, loop(2))).rejects.toThrow(/a map or loop of it has its items/)
    await adapter.clock.runUntil(engine.close())
  })
})
