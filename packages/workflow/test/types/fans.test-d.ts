import { describe, expectTypeOf, it } from 'vitest'
import { define, type OutputsOf, type Settled, unchecked } from '../../src/index.ts'

const child = define('child', { version: 1, input: unchecked<{ sku: string }>() }).step('reserve', {
  run: () => ({ id: 1, at: new Date(0) }),
})

const base = define('parent', { version: 1, input: unchecked<{ lines: { sku: string; sum: number }[] }>() })

describe('a fan of children', () => {
  it("has the children's outputs, as they are stored", () => {
    base.workflow('each', child, { over: ({ input }) => input.lines }).step('after', {
      dependsOn: ['each'],
      run: ({ deps }) =>
        expectTypeOf(deps.each).toEqualTypeOf<readonly { readonly reserve: { id: number; at: string } }[]>(),
    })
  })

  it('with onFailure: collect has how each child ended', () => {
    const parent = base.workflow('each', child, {
      over: ({ input }) => input.lines,
      onFailure: 'collect',
      minSuccess: '90%',
    })
    expectTypeOf<OutputsOf<typeof parent>['each'][number]>().toEqualTypeOf<
      Settled<{ readonly reserve: { id: number; at: string } }>
    >()
  })

  it('gives input, key and itemKey the item, and input and key the outputs that it depends on', () => {
    base.step('price', { run: () => 7 }).workflow('each', child, {
      dependsOn: ['price'],
      over: ({ input, deps }) => input.lines.map(({ sum }) => sum * deps.price),
      itemKey: (item) => item.toFixed(),
      input: ({ item, itemKey, index, deps }) => ({
        sku: `${item.toFixed()}${itemKey}${index}${deps.price}`,
      }),
      key: ({ item, deps }) => `${item.toFixed()}${deps.price.toFixed()}`,
    })
  })

  it('needs no input if an item is what the child takes, and else needs one', () => {
    base.workflow('each', child, { over: () => [{ sku: 'a' }] })
    // @ts-expect-error The child takes a sku, and an item is a number.
    base.workflow('each', child, { over: () => [1] })
    // @ts-expect-error The child takes a text.
    base.workflow('each', child, { over: () => [1], input: ({ item }) => ({ sku: item }) })
    // @ts-expect-error Without collect every child must complete.
    base.workflow('each', child, { over: () => [{ sku: 'a' }], minSuccess: 1 })
  })

  it('that is detached has the ids of its children', () => {
    const parent = base.workflow('aside', child, { over: () => [{ sku: 'a' }], detached: true })
    expectTypeOf<OutputsOf<typeof parent>['aside']>().toEqualTypeOf<readonly { readonly runId: string }[]>()
  })

  it('by name takes and gives anything', () => {
    const parent = base.workflow('again', 'parent', { over: () => [1] })
    expectTypeOf<OutputsOf<typeof parent>['again'][number]>().toBeUnknown()
  })
})
