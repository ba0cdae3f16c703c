import { createEngine, define, type Engine, type WorkflowDefinition } from '@belay/workflow'
import { describe, expect, it, vi } from 'vitest'
import { memory } from '../../src/index.ts'

const waiting = define('waiting', { version: 1 }).waitForSignal('paid').approval('decided')
const started = (engine: Engine) => engine.run(waiting, {})
type Started = Awaited<ReturnType<typeof started>>

type Give = (value: unknown) => Promise<unknown>

/** Every place at which a payload enters, besides outputs, which have tests of their own. Each gives `value` there, and resolves or rejects with it. */
const ENTRIES: readonly (readonly [string, (engine: Engine, run: Started) => Give])[] = [
  ['an input', (engine) => (value) => engine.run('waiting', value)],
  [
    'inputs of several runs',
    (engine) => (value) => engine.runMany(waiting, [{ input: 1 }, { input: value }]),
  ],
  ['a signal', (_, run) => (value) => run.signal('paid', value)],
  ["an approval's payload", (_, run) => (value) => run.approve('decided', { by: 'ann', payload: value })],
  [
    "a schedule's input",
    (engine) => (value) =>
      engine.schedules.put('nightly', { every: '1d', workflow: 'waiting', input: value }),
  ],
  ['a stand-in output', (_, run) => (value) => run.skipStep('paid', { output: value, reason: 'test' })],
]

describe.each(ENTRIES)('%s', (_, entry) => {
  it('that JSON would lose in part is refused, with the path', async () => {
    const engine = createEngine({ adapter: memory(), workflows: [waiting] })
    const give = entry(engine, await started(engine))

    for (const lost of [() => 1, Symbol('s'), 1n, new Map(), new Error('no')]) {
      await expect(give({ items: [0, { price: lost }] })).rejects.toMatchObject({
        code: 'payload_unserialisable',
        message: expect.stringMatching(/ at \$(\.payload)?\.items\[1\]\.price, of which JSON keeps /),
      })
    }
  })

  it('that JSON changes is taken, with a warning', async () => {
    const warn = vi.fn()
    const logger = { debug() {}, info() {}, warn, error() {} }
    const engine = createEngine({ adapter: memory(), workflows: [waiting], logger })
    const give = entry(engine, await started(engine))

    await give({ price: Number.NaN }).catch(() => {})

    const messages = warn.mock.calls.map(([message]) => String(message))
    expect(messages.filter((message) => /holds NaN at \$(\.payload)?\.price/.test(message))).toHaveLength(1)
  })
})

describe('what a handler gives', () => {
  const lossy = { items: [{ price: () => 1 }] }

  it.each<readonly [string, WorkflowDefinition]>([
    [
      'a published value',
      define('w', { version: 1 }).step('a', { run: ({ publish }) => publish('k', lossy) }),
    ],
    [
      'details of a heartbeat',
      define('w', { version: 1 }).step('a', { run: ({ heartbeat }) => heartbeat(lossy) }),
    ],
    [
      'an item of a map',
      define('w', { version: 1 }).map('a', { over: (): unknown[] => [lossy], run: () => 1 }),
    ],
    [
      "a child's input",
      define('w', { version: 1 }).workflow('a', 'waiting', { input: (): unknown => lossy }),
    ],
    [
      'the output of a round',
      define('w', { version: 1 }).repeat('a', { run: (): unknown => lossy, until: () => true }),
    ],
    [
      'what a loop begins with',
      define('w', { version: 1 }).repeat('a', {
        first: (): unknown => lossy,
        run: () => 1,
        until: () => true,
      }),
    ],
    [
      'the answer of a poll',
      define('w', { version: 1 }).poll('a', { every: '1s', until: (): unknown => lossy }),
    ],
  ])('%s that JSON would lose in part fails its step, with the path', async (_, workflow) => {
    const adapter = memory()
    const engine = createEngine({ adapter, workflows: [workflow, waiting] })
    await engine.start()

    const run = await engine.run(workflow, {})
    const ended = run.result().then(String, String)

    expect(await adapter.clock.runUntil(ended, { limit: '1h' })).toContain('a function at $.items[0].price')
    await engine.stop()
  })
})
