import { BelayError, createEngine, define } from '@belay/workflow'
import { describe, expect, it } from 'vitest'
import { changed, engines } from './bench-of-engines.ts'

const patient = define('patient', { version: 1 }).waitForSignal('go')

async function waitingRun() {
  const { clock, worker } = engines()
  const engine = await worker({ workflows: [patient], tick: '1m', lease: '1d' })
  const run = await engine.run(patient, undefined, { key: 'p1' })
  await clock.advance('1s')
  return { clock, engine, run }
}

describe('a wait for a result', () => {
  it('ends at its timeout, says that the run continues, and can be repeated', async () => {
    const { clock, engine, run } = await waitingRun()
    const handles = [run, engine.runs.handle(run.id), engine.runs.handle(patient, run.id)]
    const waits = [...handles, engine.runs.handle(patient, { key: 'p1' })].map((handle) => {
      return handle.result({ timeout: '90s' }).then(String, (error: unknown) => error)
    })
    const begunAt = clock.now()

    for (const wait of waits) {
      expect(await clock.runUntil(wait)).toMatchObject({
        code: 'result_timeout',
        runId: run.id,
        message: expect.stringContaining('The run goes on'),
      })
    }

    expect(clock.now() - begunAt).toBe(90_000)
    const again = run.result({ timeout: 60_000 })
    await run.signal('go', 'gone')
    expect(await clock.runUntil(again)).toEqual({ go: 'gone' })
  })

  it.each(['result()', 'watch()'])(
    'of %s says that the store answers again only once it has',
    async (how) => {
      const { clock, adapter } = engines()
      let isOut = true
      const answered: string[] = []
      const unless = async <Answer>(answer: () => Promise<Answer>): Promise<Answer> => {
        if (isOut) throw new BelayError('store_unavailable', 'The store is out.')
        answered.push('answered')
        return answer()
      }
      const store = changed(adapter, {
        readStatuses: (...args) => unless(() => adapter.readStatuses(...args)),
        observeRuns: (...args) => unless(() => adapter.observeRuns(...args)),
      })
      const engine = createEngine({ adapter: store, clock, workflows: [patient], tick: '10s' })
      engine.on('store.recovered', () => answered.push('recovered'))
      const run = await engine.run(patient, undefined)
      const watched = run.watch()[Symbol.asyncIterator]()
      const awaited = how === 'result()' ? run.result() : watched.next()
      awaited.catch(() => {})

      await clock.advance('1m')
      expect(answered).toEqual([])
      isOut = false
      await clock.advance('1m')
      expect(answered.slice(0, 2)).toEqual(['answered', 'recovered'])
      await clock.runUntil(engine.close())
    },
  )

  it('accepts timeouts longer than the longest timer of a process', async () => {
    const { clock, engine } = engines()
    // Like a process's timers.
    const after = (delayMs: number, fire: () => void) => clock.after(Math.min(delayMs, 2_147_483_647), fire)
    const web = engine({ clock: { now: () => clock.now(), after }, tick: '1m' })
    const run = await web.run(patient)
    const begunAt = clock.now()

    const waiting = run.result({ timeout: '30d' })

    await expect(clock.runUntil(waiting, { limit: '31d' })).rejects.toMatchObject({ code: 'result_timeout' })
    expect(clock.now() - begunAt).toBe(30 * 86_400_000)
    await web.close()
  })

  it('ends if its signal is aborted, before it begins or while it lasts', async () => {
    const { run } = await waitingRun()
    const abort = new AbortController()
    const wait = run.result({ signal: abort.signal })
    const reason = new Error('the browser went away')

    abort.abort(reason)

    await expect(wait).rejects.toMatchObject({ code: 'result_aborted', runId: run.id, cause: reason })
    await expect(run.result({ signal: abort.signal })).rejects.toMatchObject({ code: 'result_aborted' })
    expect((await run.status()).status).toBe('waiting')
  })

  it('that ends early does not affect the waits of others', async () => {
    const { clock, run } = await waitingRun()
    const other = run.result()
    await expect(clock.runUntil(run.result({ timeout: '1s' }))).rejects.toMatchObject({
      code: 'result_timeout',
    })

    await run.signal('go', 1)

    expect(await clock.runUntil(other)).toEqual({ go: 1 })
  })

  it('refuses an invalid timeout and an invalid signal', async () => {
    const { run } = await waitingRun()
    const wrong = [{ timeout: 0 }, { timeout: -1 }, { timeout: 'soon' }, { timeout: null }, { signal: 1 }]

    for (const options of [...wrong, { timeOut: 1 }, null, 5]) {
      await expect(run.result(options as never)).rejects.toMatchObject({ code: 'invalid_option' })
    }
  })
})
