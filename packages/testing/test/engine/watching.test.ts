import { createEngine, define, PermanentError, StepFailedError, type WatchedChange } from '@belay/workflow'
import { StoreUnavailableError } from '@belay/workflow/adapter'
import { describe, expect, it, onTestFinished } from 'vitest'
import { changed, engines, gate } from './bench-of-engines.ts'

/** Two steps, of which the second waits for a gate. */
function gated() {
  const { passed, open } = gate()
  const workflow = define('gated', { version: 1 })
    .step('first', {
      run: async ({ publish, progress }) => {
        await progress(1, 2)
        await publish('url', '/1')
        return 'one'
      },
    })
    .step('second', {
      dependsOn: ['first'],
      run: async () => {
        await passed
        return 2
      },
    })
  return { workflow, open }
}

/** Collects the changes of a watch, and how it ended. */
function collect(changes: AsyncIterable<WatchedChange>) {
  const seen: WatchedChange[] = []
  const ended = (async () => {
    for await (const change of changes) seen.push(change)
    return 'ended'
  })()
  ended.catch(() => {})
  return { seen, ended }
}

function lines(changes: readonly WatchedChange[]): readonly string[] {
  return changes.map((change) => {
    switch (change.type) {
      case 'run':
        return `run ${change.status}`
      case 'step':
        return `${change.step} ${change.status}${change.output === undefined ? '' : ` ${change.output}`}`
      case 'value':
        return `${change.key} = ${change.value}`
      default:
        return `${change.step} ${change.done}/${change.total}`
    }
  })
}

describe('a watch of a run', () => {
  it('begins with the present state, tells every change, and ends with the run, also in a process that only watches', async () => {
    const { clock, engine, worker } = engines()
    const { workflow, open } = gated()
    const working = await worker({ workflows: [workflow] })
    const run = await working.run(workflow)
    await clock.advance('1s')
    const { seen, ended } = collect(engine().runs.handle(run.id).watch())
    await clock.advance('1s')
    expect(lines(seen)).toEqual([
      'run running',
      'first completed one',
      'second running',
      'first 1/2',
      'url = /1',
    ])

    open()

    expect(await clock.runUntil(ended)).toBe('ended')
    expect(lines(seen.slice(5))).toEqual(['second completed 2', 'run completed'])
    // A run that has ended is told whole.
    const { seen: again, ended: over } = collect(working.watch(run))
    expect(await clock.runUntil(over)).toBe('ended')
    expect(lines(again).at(-1)).toBe('run completed')
    expect(again).toHaveLength(5)
  })

  it('tells what changed several times as one change, however slow its reader is', async () => {
    const { clock, worker, sleep } = engines()
    const workflow = define('busy', { version: 1 }).step('count', {
      run: async ({ progress }) => {
        for (let done = 1; done <= 100; done += 1) {
          await progress(done, 100)
          await sleep(100)
        }
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.advance('1s')
    const changes = run.watch()
    expect((await changes.next()).value).toMatchObject({ type: 'run' })

    // The reader does something else for seven seconds.
    await clock.advance('7s')
    const seen = [await changes.next(), await changes.next()].map(({ value }) => value)
    const next = (await clock.runUntil(changes.next())).value
    expect(seen).toMatchObject([{ type: 'step' }, { type: 'progress' }])
    // What it had been given before it did something else, and then the newest.
    expect((seen[1] as { done: number }).done).toBeLessThan(15)
    expect(next).toMatchObject({ type: 'progress' })
    expect((next as { done: number }).done).toBeGreaterThan(75)
    await changes.return?.()
  })

  it('stops at a break, and then asks the store nothing any more', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = gated()
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    let asked = 0
    const watching = engine({
      adapter: changed(adapter, {
        observeRuns: (runIds) => {
          asked += 1
          return adapter.observeRuns(runIds)
        },
      }),
    })
    const broken = (async () => {
      for await (const change of watching.watch(run)) if (change.type === 'value') break
    })()
    await clock.runUntil(broken)
    const before = asked

    await clock.advance('10s')

    expect(asked).toBe(before)
    open()
  })

  it('shares its reads with all watchers and all awaited steps of the process', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = gated()
    const working = await worker({ workflows: [workflow] })
    const runs = await working.runMany(
      workflow,
      Array.from({ length: 30 }, () => ({ input: undefined })),
    )
    await clock.advance('1s')
    const counts = { observeRuns: 0, readRun: 0 }
    const watching = engine({
      tick: '1s',
      adapter: changed(adapter, {
        observeRuns: (runIds) => {
          counts.observeRuns += 1
          return adapter.observeRuns(runIds)
        },
        readRun: (runId, items) => {
          counts.readRun += 1
          return adapter.readRun(runId, items)
        },
      }),
    })
    const ends = runs.flatMap((run) => {
      const handle = watching.runs.handle(workflow, run.id)
      return [
        collect(handle.watch()).ended,
        collect(handle.watch()).ended,
        watching.runs.handle(run.id).step('second'),
      ]
    })
    await clock.advance('10s')
    expect(counts.observeRuns).toBeLessThanOrEqual(30)
    expect(counts.readRun).toBeLessThanOrEqual(90)

    open()
    await clock.runUntil(Promise.all(ends))
  })

  it('ends with an error when its signal is aborted, when the engine is closed, and when the run is pruned', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = gated()
    const working = await worker({ workflows: [workflow] })
    const run = await working.run(workflow)
    const other = createEngine({ adapter: adapter.connect() })
    const abort = new AbortController()
    const aborted = collect(run.watch({ signal: abort.signal }))
    const closed = collect(other.watch(run.id))
    const late = engine().watch(run.id)
    await clock.runUntil(late.next())

    abort.abort(new Error('the browser went away'))
    await clock.runUntil(aborted.ended.catch(() => {}))
    await expect(aborted.ended).rejects.toMatchObject({
      code: 'watch_aborted',
      cause: { message: 'the browser went away' },
    })
    await expect(run.watch({ signal: abort.signal }).next()).rejects.toMatchObject({ code: 'watch_aborted' })
    await clock.runUntil(other.close())
    await expect(closed.ended).rejects.toMatchObject({ code: 'engine_closed' })
    await expect(other.watch(run.id).next()).rejects.toMatchObject({ code: 'engine_closed' })

    open()
    await clock.runUntil(run.result())
    await clock.advance('2s')
    await clock.runUntil(working.prune({ olderThan: '1s' }))
    const rest = collect(late)
    await clock.runUntil(rest.ended.catch(() => {}))
    // What was seen before is told; then the run is gone, or its end had been seen.
    expect(lines(rest.seen).at(-1)).toBe('run completed')
    const gone = collect(engine().watch(run.id))
    await clock.runUntil(gone.ended.catch(() => {}))
    await expect(gone.ended).rejects.toMatchObject({ code: 'unknown_run' })
  })

  it('survives an outage of the store, and says so once', async () => {
    const { clock, adapter, engine, worker } = engines()
    const { workflow, open } = gated()
    const run = await (await worker({ workflows: [workflow] })).run(workflow)
    let isOut = true
    const watching = engine({
      adapter: changed(adapter, {
        observeRuns: async (runIds) => {
          if (isOut) throw new StoreUnavailableError('gone')
          return adapter.observeRuns(runIds)
        },
      }),
    })
    const heard: string[] = []
    watching.on('store.unavailable', ({ during }) => heard.push(`lost ${during}`))
    watching.on('store.recovered', ({ during }) => heard.push(`back ${during}`))
    const { seen, ended } = collect(watching.watch(run.id))
    await clock.advance('10s')
    expect(seen).toEqual([])

    isOut = false
    open()

    expect(await clock.runUntil(ended)).toBe('ended')
    expect(heard).toEqual(['lost watching runs', 'back watching runs'])
  })

  it('tells pauses, retries and an undo, and ends when the undo has ended', async () => {
    const { clock, worker } = engines()
    const workflow = define('fails', { version: 1 })
      .step('reserve', { run: () => 'r', compensate: ({ progress }) => progress(1) })
      .step('fail', {
        dependsOn: ['reserve'],
        retry: { attempts: 2, backoff: 'constant', initial: '1s' },
        run: () => {
          throw new Error('no')
        },
      })
    const engine = await worker({ workflows: [workflow], tick: '10ms' })
    const run = await engine.run(workflow)
    const { seen, ended } = collect(run.watch())
    await clock.advance(500)
    await run.pause()
    await clock.advance(500)
    await run.resume()
    expect(await clock.runUntil(ended)).toBe('ended')

    const told = lines(seen)
    for (const line of ['run paused', 'fail ready', 'fail failed', 'reserve compensated']) {
      expect(told).toContain(line)
    }
    expect(told.at(-1)).toBe('run compensated')
    expect(seen.find((change) => change.type === 'step' && change.status === 'failed')).toMatchObject({
      error: { message: 'no' },
    })
  })
})

describe('the result of one step', () => {
  it('is there as soon as the step has completed, while the run goes on', async () => {
    const { clock, engine, worker } = engines()
    const { workflow, open } = gated()
    const run = await (await worker({ workflows: [workflow] })).run(workflow, undefined, { key: 'k' })

    expect(await clock.runUntil(run.step('first'))).toBe('one')
    expect(await clock.runUntil(engine().runs.handle(workflow, { key: 'k' }).step('first'))).toBe('one')
    expect((await run.status()).status).toBe('running')
    expect(await clock.runUntil(engine().step({ workflow, key: 'k' }, 'first'))).toBe('one')
    open()
    expect(await clock.runUntil(run.step('second'))).toBe(2)
  })

  it('is the stand-in of a step that an operator skipped', async () => {
    const { clock, engine } = engines()
    const { workflow } = gated()
    const run = await engine().run(workflow)
    const waiting = run.step('first')
    await clock.advance('1s')

    await run.skipStep('first', { output: 'stand-in' })

    expect(await clock.runUntil(waiting)).toBe('stand-in')
  })

  it('is an error for a step that failed, was cancelled or was undone', async () => {
    const { clock, worker } = engines()
    const workflow = define('fails', { version: 1 })
      .step('reserve', { run: () => 'r', compensate: () => {} })
      .step('fail', {
        dependsOn: ['reserve'],
        run: () => {
          throw new PermanentError('no stock')
        },
      })
      .step('after', { dependsOn: ['fail'], run: () => {} })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))
    const errorOf = (step: 'reserve' | 'fail' | 'after') =>
      clock.runUntil(run.step(step).catch((error: unknown) => error))

    expect(await errorOf('fail')).toMatchObject({
      name: 'StepFailedError',
      code: 'step_failed',
      status: 'failed',
      step: 'fail',
      runId: run.id,
      cause: { message: 'no stock' },
    })
    expect(StepFailedError.is(await errorOf('after'))).toBe(true)
    expect(await errorOf('after')).toMatchObject({ status: 'cancelled' })
    expect(await errorOf('reserve')).toMatchObject({ status: 'compensated' })
  })

  it('ends at its timeout or signal, and names the nearest step for a name that is wrong', async () => {
    const { clock, engine } = engines()
    const { workflow } = gated()
    const run = await engine().run(workflow)
    const wait = run.step('first', { timeout: '30s' }).catch((error: unknown) => error)
    expect(await clock.runUntil(wait)).toMatchObject({
      code: 'result_timeout',
      step: 'first',
      message: expect.stringContaining('Step "first" of run'),
    })
    const abort = new AbortController()
    const aborted = run.step('first', { signal: abort.signal })
    abort.abort()
    await expect(aborted).rejects.toMatchObject({ code: 'result_aborted', step: 'first' })

    const misspelt = engine()
      .step(run.id, 'frist')
      .catch((error: unknown) => error)
    expect(await clock.runUntil(misspelt)).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('Did you mean "first"?'),
    })
    const unknown = engine().step('00000000-0000-7000-8000-000000000000', 'first')
    await expect(clock.runUntil(unknown)).rejects.toMatchObject({ code: 'unknown_run' })
  })

  it('is awaited across an outage, a pause and a retry of the run', async () => {
    const { clock, worker } = engines()
    let fails = true
    const workflow = define('again', { version: 1 }).step('only', {
      run: () => {
        if (fails) throw new PermanentError('no')
        return 'yes'
      },
    })
    const engine = await worker({ workflows: [workflow] })
    const run = await engine.run(workflow)
    await clock.runUntil(run.result().catch(() => {}))
    fails = false
    await run.retry()

    expect(await clock.runUntil(run.step('only'))).toBe('yes')
    onTestFinished(() => engine.close())
  })
})
