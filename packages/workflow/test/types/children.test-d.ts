import { describe, expectTypeOf, it } from 'vitest'
import { define, type InputOf, type OutputsOf, unchecked } from '../../src/index.ts'

const child = define('child', { version: 1, input: unchecked<{ sku: string }>() })
  .step('reserve', { run: () => ({ id: 1, at: new Date(0) }) })
  .sleep('pause', { dependsOn: ['reserve'], for: '1s' })

const base = define('parent', { version: 1, input: unchecked<{ sku: string; sum: number }>() })

describe('a step with a child', () => {
  it("has the child's outputs, as they are stored", () => {
    base.workflow('middle', child, {}).step('after', {
      dependsOn: ['middle'],
      run: ({ deps }) => expectTypeOf(deps.middle.reserve).toEqualTypeOf<{ id: number; at: string }>(),
    })
  })

  it('needs no input if the parent has what the child takes, and else needs one', () => {
    base.workflow('middle', child, {})
    const other = define('other', { version: 1, input: unchecked<{ sum: number }>() })
    // @ts-expect-error The child takes a sku, which the parent does not have.
    other.workflow('middle', child, {})
    other.workflow('middle', child, { input: ({ input }) => ({ sku: String(input.sum) }) })
    // @ts-expect-error The child takes a text.
    other.workflow('middle', child, { input: ({ input }) => ({ sku: input.sum }) })
  })

  it('needs no options if the parent has what the child takes', () => {
    const parent = define('parent', { version: 1 }).workflow(
      'plain',
      define('plain', { version: 1 }).step('a', { run: () => 1 }),
    )
    expectTypeOf<OutputsOf<typeof parent>['plain']>().toEqualTypeOf<{ readonly a: number }>()
    base.workflow('ship', child).workflow('named', 'other')
    // @ts-expect-error the child's input is another
    define('parent', { version: 1 }).workflow('ship', child)
  })

  it('gives input and key the outputs of the steps that it depends on', () => {
    base.step('price', { run: () => 7 }).workflow('middle', child, {
      dependsOn: ['price'],
      input: ({ deps }) => ({ sku: deps.price.toFixed() }),
      key: ({ deps }) => deps.price.toFixed(),
    })
  })

  it('that is detached has only the id of its child', () => {
    const parent = base.workflow('aside', child, { detached: true })
    expectTypeOf<OutputsOf<typeof parent>['aside']>().toEqualTypeOf<{ readonly runId: string }>()
  })

  it('by name takes and gives anything', () => {
    const parent = base.workflow('again', 'parent', { input: () => 1 })
    expectTypeOf<OutputsOf<typeof parent>['again']>().toBeUnknown()
    expectTypeOf<InputOf<typeof parent>>().toEqualTypeOf<{ sku: string; sum: number }>()
  })

  it('that may be skipped may have no output', () => {
    const parent = base.workflow('maybe', child, { when: ({ input }) => input.sum > 1 })
    expectTypeOf<undefined>().toExtend<OutputsOf<typeof parent>['maybe']>()
  })
})
