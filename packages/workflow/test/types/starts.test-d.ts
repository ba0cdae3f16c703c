import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type CollectedStart,
  type createEngine,
  define,
  defineGraph,
  type InputOf,
  unchecked,
} from '../../src/index.ts'

interface Edit {
  readonly docId: string
  readonly at: Date
}
const schema = z.object({ docId: z.string(), at: z.coerce.date() })
declare const engine: ReturnType<typeof createEngine>

describe('collected starts', () => {
  it('give a batch an array of what the store makes of each input, and take one input at a time', () => {
    const write = define('write', {
      version: 1,
      input: schema,
      start: { batch: { max: 10, within: '1s' }, key: ({ input }) => input.docId },
    }).step('insert', {
      run: ({ input }) => {
        expectTypeOf(input).toEqualTypeOf<readonly { docId: string; at: string }[]>()
        return input.length
      },
      compensate: ({ input }) => expectTypeOf(input.length).toEqualTypeOf<number>(),
    })
    expectTypeOf<InputOf<typeof write>>().toEqualTypeOf<z.input<typeof schema>>()
    // @ts-expect-error An array is not one input.
    void engine.run(write, [{ docId: '1', at: new Date() }])
  })

  it('give other workflows one input', () => {
    const input = unchecked<Edit>()
    const debounced = define('a', {
      version: 1,
      input,
      start: { debounce: '5s', max: 60_000, key: ({ input }) => input.docId },
    })
    const throttled = define('b', { version: 1, input, start: { throttle: '5s', key: 'docId' } })
    debounced.step('s', {
      run: ({ input }) =>
        expectTypeOf(input).toEqualTypeOf<{ readonly docId: string; readonly at: string }>(),
    })
    throttled.step('s', {
      run: ({ input }) =>
        expectTypeOf(input).toEqualTypeOf<{ readonly docId: string; readonly at: string }>(),
    })
    define('plain', { version: 1, input }).step('s', {
      run: ({ input }) => expectTypeOf(input.docId).toEqualTypeOf<string>(),
    })
  })

  it('tell how a call was collected', async () => {
    const run = await engine.run(define('a', { version: 1, start: { throttle: 1 } }), {})
    expectTypeOf(run.collected).toEqualTypeOf<CollectedStart | undefined>()
  })

  it('refuse what contradicts itself', () => {
    // @ts-expect-error Only one of them.
    define('a', { version: 1, start: { debounce: '1s', throttle: '1s' } })
    // @ts-expect-error A batch has its max in batch.
    define('a', { version: 1, start: { batch: { max: 1, within: '1s' }, max: '1s' } })
    // @ts-expect-error A batch needs both limits.
    define('a', { version: 1, start: { batch: { max: 1 } } })
    const input = unchecked<Edit>()
    // @ts-expect-error A key is a string.
    define('a', { version: 1, input, start: { debounce: '1s', key: ({ input }) => input.at } })
    // @ts-expect-error None of debounce, throttle and batch.
    defineGraph('a', { start: { key: 'docId' }, steps: {}, dag: {} }, {})
  })
})
