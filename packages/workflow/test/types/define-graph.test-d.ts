import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  type CompensationContext,
  defineGraph,
  type InputOf,
  type OutputsOf,
  type StepContext,
} from '../../src/definition/index.ts'

const graph = {
  input: z.object({ at: z.coerce.date() }),
  steps: { a: { handler: 'work', compensate: 'undo' } },
  dag: {},
} as const

describe('a graph as data', () => {
  it('has the input of its schema, and outputs of unknown type', () => {
    const definition = defineGraph('w', graph)
    expectTypeOf<InputOf<typeof definition>>().toEqualTypeOf<z.input<typeof graph.input>>()
    expectTypeOf<OutputsOf<typeof definition>>().toEqualTypeOf<Readonly<Record<string, unknown>>>()
  })

  it('gives its handlers the input as stored', () => {
    defineGraph('w', graph, {
      work: ({ input, deps }) => {
        expectTypeOf(input).toEqualTypeOf<{ at: string }>()
        expectTypeOf(deps).toEqualTypeOf<Readonly<Record<string, unknown>>>()
      },
      undo: ({ output }) => expectTypeOf(output).toBeUnknown(),
    })
  })

  it('accepts handlers that declare their own types of deps and output', () => {
    const work = async ({ deps }: StepContext<{ at: string }, { before: number }>) => deps.before
    const undo = ({ output }: CompensationContext<{ at: string }, { before: number }, number>) =>
      output.toFixed()
    expectTypeOf(defineGraph('w', graph, { work, undo }).name).toEqualTypeOf<'w'>()
  })

  it('refuses handlers that declare another input', () => {
    const work = ({ input }: StepContext<{ at: Date }>) => input.at
    // @ts-expect-error a Date has become a text on its way through the store
    expectTypeOf(defineGraph('w', graph, { work }).name).toEqualTypeOf<'w'>()
  })

  it('accepts values from JSON', () => {
    const parsed = JSON.parse('{}')
    expectTypeOf(defineGraph('w', parsed).name).toEqualTypeOf<'w'>()
  })
})
