import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { StopOnSignalsOptions } from '../../src/index.ts'
import { stopOnSignals } from '../../src/index.ts'

/** A process that notes its exit instead of ending. */
class FakeProcess extends EventEmitter {
  readonly exits: number[] = []
  exit(code: number): void {
    this.exits.push(code)
  }
}

function given(options?: StopOnSignalsOptions) {
  const process = new FakeProcess()
  const calls: unknown[] = []
  let [close, fail] = [() => {}, (_: Error) => {}]
  const engine = {
    close: (how: unknown) => {
      calls.push(how)
      return new Promise<void>((resolve, reject) => {
        close = resolve
        fail = reject
      })
    },
  }
  const leave = stopOnSignals(engine, process, options)
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return { process, calls, leave, settled, closes: () => close(), fails: (error: Error) => fail(error) }
}

describe('stopping on signals', () => {
  it('closes the engine on the first signal, and exits with 0 when that is done', async () => {
    const { process, calls, closes, settled } = given({ timeout: '5s' })

    process.emit('SIGTERM')
    await settled()
    const before = [...process.exits]
    closes()
    await settled()

    expect(before).toEqual([])
    expect(calls).toEqual([{ timeout: 5_000 }])
    expect(process.exits).toEqual([0])
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(0)
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ])('exits at once on a second signal, %s with %i, and only once', async (second, code) => {
    const { process, calls, closes, settled } = given()

    process.emit('SIGTERM')
    process.emit(second)
    closes()
    await settled()

    expect(process.exits).toEqual([code])
    expect(calls).toHaveLength(1)
    expect(process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')).toBe(0)
  })

  it('calls afterwards before it exits', async () => {
    const order: string[] = []
    const { process, closes, settled } = given({
      afterwards: async () => {
        order.push('afterwards')
      },
    })

    process.emit('SIGINT')
    const early = [...order]
    closes()
    await settled()

    expect(early).toEqual([])
    expect(order).toEqual(['afterwards'])
    expect(process.exits).toEqual([0])
  })

  it('exits with 1 when closing fails, and says why', async () => {
    const logged: unknown[] = []
    const log = () => {}
    const logger = { debug: log, info: log, warn: log, error: (...line: unknown[]) => logged.push(line) }
    const { process, fails, settled } = given({ logger })

    process.emit('SIGTERM')
    fails(new Error('no'))
    await settled()

    expect(process.exits).toEqual([1])
    expect(logged).toMatchObject([['Stopping failed.', { signal: 'SIGTERM', error: { message: 'no' } }]])
  })

  it('listens to the given signals, and to none once its listeners are removed', async () => {
    const { process, calls, leave } = given({ signals: ['SIGUSR2', 'SIGUSR2'] })

    const listening = [process.listenerCount('SIGUSR2'), process.listenerCount('SIGTERM')]
    leave()
    process.emit('SIGUSR2')

    expect(listening).toEqual([1, 0])
    expect(calls).toEqual([])
  })

  it.each([
    [{ signals: [] }, /signals must be one or more of 'SIGHUP', 'SIGINT'/],
    [{ signals: ['SIGKILL'] }, /signals must be one or more of .*; got "SIGKILL"/],
    [{ timeout: '-1s' }, /timeout/],
    [{ signal: ['SIGTERM'] }, /no option "signal". Did you mean "signals"/],
  ])('refuses %j', (options, message) => {
    expect(() => given(options as StopOnSignalsOptions)).toThrow(message)
  })
})
