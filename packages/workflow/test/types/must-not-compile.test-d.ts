import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { define, defineGraph } from '../../src/definition/index.ts'

const base = define('w', { version: 1, input: z.object({ id: z.string() }) }).step('a', { run: () => 1 })
const run = () => 2
declare const flag: boolean

describe('does not compile', () => {
  it('a dependency that is read but not declared', () => {
    base.step('b', {
      run: ({ deps }) => {
        // @ts-expect-error a is not in dependsOn
        deps.a
      },
    })
  })

  it('a dependency used as another type', () => {
    base.step('b', {
      dependsOn: ['a'],
      // @ts-expect-error a returns a number
      run: ({ deps }) => deps.a.toUpperCase(),
    })
  })

  it('an input used as another type', () => {
    // @ts-expect-error the schema has no such property
    base.step('b', { run: ({ input }) => input.items })
  })

  it('an output that may be missing, used without a check', () => {
    base.step('b', {
      run: () => 'x',
      compensateOn: 'started',
      // @ts-expect-error a step that was only started may have no output
      compensate: ({ output }) => output.toUpperCase(),
    })
  })

  it('unknown options, and wrong values of options', () => {
    // @ts-expect-error retires is not an option
    base.step('b', { run, retires: 3 })
    // @ts-expect-error a duration has a unit
    base.step('b', { run, timeout: '5' })
    // @ts-expect-error there is no such backoff
    base.step('b', { run, retry: { backoff: 'quadratic' } })
    // @ts-expect-error only completed or started
    base.step('b', { run, compensate: run, compensateOn: 'failed' })
    // @ts-expect-error run is missing
    base.step('b', {})
    // @ts-expect-error version is missing
    define('w', {})
    // @ts-expect-error this is no schema
    define('w', { version: 1, input: { id: 'string' } })
  })

  it('an unknown step in one of two lists', () => {
    // @ts-expect-error zz is not defined
    base.step('b', { dependsOn: flag ? ['a', 'zz'] : [], run })
  })

  it('an onTimeout without a timeout', () => {
    // @ts-expect-error there is no timeout
    base.waitForSignal('s', { onTimeout: { output: 1 } })
    // @ts-expect-error there is no timeout
    base.approval('s', { onTimeout: () => 1 })
  })

  it('a graph as data whose steps name missing handlers', () => {
    const steps = { a: { handler: 'work', compensate: 'undo' } } as const
    // @ts-expect-error undo is missing
    defineGraph('w', { steps, dag: {} }, { work: run })
    defineGraph('w', { steps, dag: {} }, { work: run, undo: run, more: run })
    // @ts-expect-error retires is not an option
    defineGraph('w', { steps: { a: { handler: 'work', retires: 1 } }, dag: {} })
  })

  it('a change of a definition', () => {
    // @ts-expect-error definitions are immutable
    base.version = 2
    // @ts-expect-error and so are their steps
    base.steps.push(base.steps[0]!)
  })

  it('a graph as data with missing or wrong parts', () => {
    // @ts-expect-error dag is missing
    defineGraph('w', { steps: {} })
    // @ts-expect-error handler is missing
    defineGraph('w', { steps: { a: {} }, dag: {} })
    // @ts-expect-error a handler is a function
    defineGraph('w', { steps: { a: { handler: 'x' } }, dag: {} }, { x: 'x' })
    expectTypeOf(defineGraph).toBeFunction()
  })
})
