import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { define, defineGraph } from '../../src/definition/index.ts'
import { DefinitionError } from '../../src/errors.ts'

const handlers = { validate: () => 1, charge: () => 2, refund: () => 3 }
const graph = {
  steps: {
    charge_card: { handler: 'charge', retries: 1, initial: '2s', timeout: '20s', compensate: 'refund' },
    validate_stock: { handler: 'validate' },
  },
  dag: { charge_card: ['validate_stock'] },
} as const

/** As it comes from JSON. */
const fromJson = (value: unknown) => JSON.parse(JSON.stringify(value))
const withStep = (options: object) => fromJson({ steps: { a: { handler: 'charge', ...options } }, dag: {} })

describe('a graph as data', () => {
  it('becomes a definition with version 1', () => {
    const definition = defineGraph('checkout', fromJson(graph), handlers)
    expect(definition).toMatchObject({ name: 'checkout', version: 1, runnable: true })
    expect(definition.graph.names).toEqual(['validate_stock', 'charge_card'])
    expect(definition.steps[1]).toEqual({
      name: 'charge_card',
      number: 1,
      dependsOn: ['validate_stock'],
      retry: {
        attempts: 2,
        backoff: 'exponential',
        initialMs: 2_000,
        maxMs: 30_000,
        jitter: true,
        forMs: null,
      },
      timeoutMs: 20_000,
      heartbeatMs: null,
      irreversible: false,
      limits: null,
      pivot: false,
      pivotsBefore: [],
      priority: 0,
      lossesMax: 5,
      transaction: null,
      run: handlers.charge,
      wait: null,
      map: null,
      when: null,
      onSkipped: 'skip',
      onFailure: 'stop',
      settled: null,
      cases: null,
      branch: null,
      compensation: {
        run: handlers.refund,
        on: 'completed',
        retry: {
          attempts: 4,
          backoff: 'exponential',
          initialMs: 1_000,
          maxMs: 30_000,
          jitter: true,
          forMs: null,
        },
        timeoutMs: 20_000,
        heartbeatMs: null,
        transaction: null,
      },
    })
    expect(definition.toMermaid()).toContain('s0 --> s1')
  })

  it('without handlers has the same record, and is not runnable', () => {
    const definition = defineGraph('checkout', graph)
    expect(definition.runnable).toBe(false)
    expect(definition.steps[1]).toMatchObject({ run: null, compensation: { run: null, on: 'completed' } })
    expect(definition.record).toEqual(defineGraph('checkout', graph, handlers).record)
  })

  it('has the record of the same graph in code', () => {
    const inCode = define('checkout', { version: 1 })
      .step('validate_stock', { run: handlers.validate })
      .step('charge_card', {
        dependsOn: ['validate_stock'],
        run: handlers.charge,
        compensate: handlers.refund,
      })
    expect(defineGraph('checkout', graph).record).toEqual(inCode.record)
  })

  it('may have defaults for all steps, and options for a compensation', () => {
    const { steps } = defineGraph('w', {
      attempts: 2,
      timeout: '1m',
      lossesMax: 1,
      steps: {
        a: { handler: 'charge', compensate: { handler: 'refund', attempts: 8 }, compensateOn: 'started' },
        b: { handler: 'charge', retries: 0, timeout: false },
      },
      dag: {},
    })
    expect(steps[0]).toMatchObject({ retry: { attempts: 2 }, timeoutMs: 60_000, lossesMax: 1 })
    expect(steps[0]!.compensation).toMatchObject({ on: 'started', retry: { attempts: 8 }, timeoutMs: 60_000 })
    expect(steps[1]).toMatchObject({ retry: { attempts: 1 }, timeoutMs: null })
  })

  it('checks its input with a schema', async () => {
    const definition = defineGraph('w', { ...graph, input: z.object({ id: z.string() }) })
    await expect(definition.validate({ id: 1 })).rejects.toMatchObject({ code: 'invalid_input' })
  })

  it('cannot be changed from outside', () => {
    expect(() => Object.assign(defineGraph('w', graph), { version: 2 })).toThrow(TypeError)
  })
})

describe('an invalid graph as data is refused', () => {
  it.each<[string, unknown, string]>([
    ['no object', null, 'Workflow "w": the graph is null, and must be an object with version'],
    ['no steps', { dag: {} }, 'steps is undefined, and must be an object with one entry for each step.'],
    ['empty steps', { steps: {}, dag: {} }, 'Workflow "w": it has no steps.'],
    ['no dag', { steps: {} }, 'dag is undefined, and must be an object with the dependencies of each step'],
    ['an unknown option', { stepz: {}, ...graph }, 'the graph has no option "stepz". Did you mean "steps"?'],
    ['a version', { ...graph, version: '1' }, 'version is "1", and must be a whole number'],
    [
      'a dag entry that is no step',
      { ...graph, dag: { chargeCard: ['validate_stock'] } },
      'dag has an entry for "chargeCard", which is not in steps. Did you mean "charge_card"? Its steps are charge_card, validate_stock.',
    ],
    [
      'a dag entry that is no array',
      { ...graph, dag: { charge_card: 'validate_stock' } },
      'step "charge_card": its entry in dag is "validate_stock", and must be an array',
    ],
    [
      'an unknown dependency',
      { ...graph, dag: { charge_card: ['validateStok'] } },
      'step "charge_card": it depends on "validateStok", which is not defined. Did you mean "validate_stock"?',
    ],
    [
      'a cycle',
      { ...graph, dag: { charge_card: ['validate_stock'], validate_stock: ['charge_card'] } },
      'in a circle: charge_card → validate_stock → charge_card (',
    ],
    [
      'a step that is no object',
      { steps: { a: 'charge' }, dag: {} },
      'step "a": the step is "charge", and must be an object',
    ],
    [
      'an unknown step option',
      withStep({ retrys: 1 }),
      'step "a": the step has no option "retrys". Did you mean "retries"?',
    ],
    [
      'dependencies in the wrong place',
      withStep({ dependsOn: ['b'] }),
      'the step has no option "dependsOn".',
    ],
    ['a step name', { steps: { 'a b': { handler: 'charge' } }, dag: {} }, 'step name "a b" is not valid.'],
    [
      'a hidden step name',
      JSON.parse('{"steps":{"__proto__":{"handler":"charge"}},"dag":{}}'),
      'step name "__proto__" is not valid.',
    ],
    [
      'a missing handler name',
      withStep({ handler: undefined }),
      'handler is undefined, and must be the name of a handler.',
    ],
    [
      'an unknown handler',
      withStep({ handler: 'chrage' }),
      'step "a": handler is "chrage", and must be the name of a handler. Did you mean "charge"? Handlers: validate, charge, refund.',
    ],
    [
      'a handler that every object has',
      withStep({ handler: 'toString' }),
      'handler is "toString", and must be the name of a handler.',
    ],
    [
      'an unknown undo',
      withStep({ compensate: 'refnd' }),
      'compensate is "refnd", and must be the name of a handler. Did you mean "refund"?',
    ],
    [
      'an unknown option of an undo',
      withStep({ compensate: { handler: 'refund', lossesMax: 1 } }),
      'compensate has no option "lossesMax".',
    ],
    [
      'compensateOn alone',
      withStep({ compensateOn: 'started' }),
      'compensateOn is given, but there is no compensate.',
    ],
    ['retries', withStep({ retries: -1 }), 'retries is -1, and must be a whole number from 0 to 9999.'],
    [
      'a default',
      { ...graph, backoff: 'fast' },
      `Workflow "w": backoff is "fast", and must be one of 'exponential'`,
    ],
  ])('%s', (_, data, message) => {
    const act = () => defineGraph('w', data as never, handlers)
    expect(act).toThrow(DefinitionError)
    expect(act).toThrow(message)
  })

  it('a handler that is not a function', () => {
    expect(() => defineGraph('w', graph, { ...handlers, charge: 'yes' } as never)).toThrow(
      'Workflow "w": handler "charge" is "yes", and must be a function.',
    )
  })
})
