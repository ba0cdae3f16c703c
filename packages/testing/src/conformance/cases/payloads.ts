import type { JsonText } from '@belay/workflow/adapter'
import { expect } from 'vitest'
import type { Cases } from '../case.ts'
import { PAIR, retry, type Scenario } from '../scenario/index.ts'

const MIB = 1_048_576

// The same text must come out: only the engine knows what a payload means.
const PAYLOADS: Readonly<Record<string, JsonText>> = {
  'no value': null,
  null: 'null',
  zero: '0',
  'negative zero': '-0',
  false: 'false',
  'an empty text': '""',
  'an empty array': '[]',
  'an empty object': '{}',
  'an integer beyond 2^53': '12345678901234567890',
  'a number beyond a double': '1e400',
  'a number with trailing zeros': '1.500',
  'text of many scripts': '"Straße, 東京, שלום, naïve, 👩‍👩‍👧‍👦"',
  'a combining accent, not composed': '"e\u0301"',
  'an escaped NUL': '"a\\u0000b"',
  'an escaped NUL in a key': '{"\\u0000":1}',
  'a lone high surrogate': '"\\ud800"',
  'a lone low surrogate': '"x\\udfff"',
  'escaped control characters and quotes': JSON.stringify('\b\f\n\r\t"\\/\u001f\u2028\u2029'),
  'white space that a formatter would lose': '{ "a" : [ 1 ,\n\t2 ] }',
  'keys in their order, and one of them twice': '{"b":1,"a":2,"b":3}',
  'a key like a prototype': '{"__proto__":{"x":1},"constructor":null}',
  'nesting 500 levels deep': `${'['.repeat(500)}${']'.repeat(500)}`,
  'text of 1 MiB': JSON.stringify('x'.repeat(MIB - 2)),
  'text of 1 MiB that compresses badly': JSON.stringify(noise(MIB)),
  'words that databases give a meaning': '["NaN","Infinity","\\\\N","{}","$1","\'; drop table x; --"]',
}

const roundTrips = Object.entries(PAYLOADS).map(
  ([name, payload]) =>
    [
      `${name} comes back unchanged: as an input and as an output`,
      async (given: Scenario) => {
        const run = await given.start(await given.graph('pair', PAIR), { input: payload })
        const worker = await given.worker()
        const claim = await worker.claimOf(run, 'a')

        const { results } = await worker.settle([{ ...claim, type: 'completed', output: payload }])

        expect(results).toEqual(['settled'])
        const [loaded] = await given.adapter.load([{ runId: run.id, steps: [0, 1] }])
        expectSame(loaded?.input, payload)
        expectSame(loaded?.steps[0]?.output, payload)
        expect(loaded?.steps[1]?.output).toBeNull()
        expectSame((await run.record()).input, payload)
        expectSame((await run.step('a')).output, payload)
      },
    ] as const,
)

export const payloadCases: Cases = {
  ...Object.fromEntries(roundTrips),

  'errors and causes come back unchanged': async (given) => {
    const run = await given.loose(2)
    const worker = await given.worker()
    const [first, second] = await worker.claimsOf(run, 's0', 's1')
    const error = '{ "name":"E","message":"\\u0000 \\ud800 Ünïcode","cause":null }'
    const cause = '{"type":"step_failed", "step":"s1","attempt":1,"error":null}'

    await worker.settle([{ ...first!, type: 'retry', error, delayMs: 0 }])
    await worker.settle([{ ...second!, type: 'failed', error, cause }])

    const [loaded] = await given.adapter.load([{ runId: run.id, steps: [0, 1] }])
    expect(loaded?.cause).toBe(cause)
    expect(loaded?.steps.map((step) => step.error)).toEqual([error, error])
    expect((await run.record()).cause).toBe(cause)
  },

  'payloads of one batch stay with their own steps': async (given) => {
    const run = await given.loose(5)
    const worker = await given.worker()
    const outputs: readonly JsonText[] = ['0', null, 'null', '""', '{"n":4}']
    const claims = await worker.claimsOf(run, 's0', 's1', 's2', 's3', 's4')

    await worker.settle(claims.map((claim, n) => ({ ...claim, type: 'completed', output: outputs[n]! })))

    expect((await run.read()).steps.map(({ output }) => output)).toEqual(outputs)
  },

  'load returns the requested payloads of several runs, and omits unknown ones': async (given) => {
    const graph = await given.graph('diamond', { a: [], b: ['a'], c: ['a'] })
    const [one, two] = [await given.start(graph, { input: '1' }), await given.start(graph, { input: '2' })]
    const worker = await given.worker()
    await worker.settle([{ ...(await worker.claimOf(one, 'a')), type: 'completed', output: '"of one"' }])
    await worker.settle([retry(await worker.claimOf(two, 'a'), 0)])

    const loaded = await given.adapter.load([
      { runId: two.id, steps: [] },
      { runId: given.ids.runId(), steps: [0] },
      { runId: one.id, steps: [0, 2] },
    ])

    const untouched = {
      availableAt: null,
      waitingSince: null,
      signalledAt: null,
      failingSince: null,
      succeeded: false,
    }
    const sorted = [...loaded].sort((first, second) => (first.runId < second.runId ? -1 : 1))
    expect(sorted).toEqual([
      {
        runId: one.id,
        input: '1',
        cause: null,
        steps: [
          { step: 0, output: '"of one"', error: null, ...untouched },
          { step: 2, output: null, error: null, ...untouched },
        ],
        now: expect.any(Number),
      },
      { runId: two.id, input: '2', cause: null, steps: [], now: expect.any(Number) },
    ])
    expect(await given.adapter.load([])).toEqual([])
  },

  'an output can be loaded during and after the undo of its step': async (given) => {
    const run = await given.pair()
    const worker = await given.worker()
    await worker.settle([{ ...(await worker.claimOf(run, 'a')), type: 'completed', output: '"receipt"' }])
    await worker.fail(run, 'b')
    await given.undo(run)
    const output = async () =>
      (await given.adapter.load([{ runId: run.id, steps: [0] }]))[0]?.steps[0]?.output

    await worker.take()
    const during = await output()
    await worker.compensate(run, 'a')

    expect([during, await output()]).toEqual(['"receipt"', '"receipt"'])
  },
}

// A mebibyte in the message would hide the difference.
function expectSame(actual: JsonText | undefined, expected: JsonText): void {
  if (expected === null || expected.length < 1_000) expect(actual).toBe(expected)
  else expect(actual === expected, `${actual?.length} characters instead of ${expected.length}`).toBe(true)
}

/** Text that rarely repeats itself, the same in every test run. */
function noise(length: number): string {
  let state = 12_345
  let text = ''
  while (text.length < length) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text.slice(0, length)
}
