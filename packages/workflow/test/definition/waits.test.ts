import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { define, defineGraph } from '../../src/definition/index.ts'
import { DefinitionError } from '../../src/errors.ts'

const run = () => 1
const base = define('w', { version: 1 })

describe('a step that waits', () => {
  it('is a step like any other, with what it waits for', () => {
    const schema = z.string()
    const until = () => true
    const stand = () => 'x'
    const definition = base
      .step('a', { run })
      .sleep('b', { dependsOn: ['a'], for: '3d' })
      .sleep('c', { until: new Date(5_000) })
      .waitForSignal('d', { dependsOn: ['a'], schema, timeout: '7d', onTimeout: stand })
      .approval('e')
      .poll('f', { every: '1m', until, timeout: '1h', retry: { attempts: 2 } })
    const step = (name: string) => definition.steps.find((one) => one.name === name)!

    expect(step('a').wait).toBeNull()
    expect(step('b')).toMatchObject({
      dependsOn: ['a'],
      wait: { kind: 'sleep', by: 'for', ms: 259_200_000 },
      run: null,
      compensation: null,
    })
    expect(step('c').wait).toEqual({ kind: 'sleep', by: 'until', ms: 5_000 })
    expect(step('d').wait).toEqual({ kind: 'signal', schema, timeoutMs: 604_800_000, onTimeout: stand })
    expect(step('e').wait).toEqual({
      kind: 'approval',
      schema: undefined,
      timeoutMs: null,
      onTimeout: 'fail',
    })
    expect(step('f')).toMatchObject({
      wait: { kind: 'poll', everyMs: 60_000, timeoutMs: 3_600_000 },
      run: until,
      retry: { attempts: 2 },
    })
    expect(definition.runnable).toBe(true)
    expect(definition.record.shape.steps.map(({ name, kind }) => [name, kind])).toEqual([
      ['a', undefined],
      ['b', 'sleep'],
      ['c', 'sleep'],
      ['d', 'signal'],
      ['e', 'approval'],
      ['f', 'poll'],
    ])
  })

  it('may be written as data, and is the same', () => {
    const check = () => true
    const inCode = base
      .sleep('nap', { for: '3d' })
      .sleep('day', { until: '2030-01-01' })
      .waitForSignal('ship', { dependsOn: ['nap'], timeout: '7d', onTimeout: { output: 'none' } })
      .approval('gate', { timeout: '1d' })
      .poll('file', { every: '1m', until: check, timeout: '1h', retry: { attempts: 2 } })
    const asData = JSON.parse(
      JSON.stringify({
        steps: {
          nap: { sleep: '3d' },
          day: { sleepUntil: '2030-01-01' },
          ship: { signal: true, timeout: '7d', onTimeout: { output: 'none' } },
          gate: { approval: true, timeout: '1d' },
          file: { poll: 'check', every: '1m', timeout: '1h', attempts: 2 },
        },
        dag: { ship: ['nap'] },
      }),
    )
    const definition = defineGraph('w', asData, { check })
    expect(definition.record).toEqual(inCode.record)
    expect(definition.steps).toEqual(inCode.steps)
    expect(defineGraph('w', asData).runnable).toBe(false)
    const { file: _, ...rest } = asData.steps
    expect(defineGraph('w', { ...asData, steps: rest }).runnable).toBe(true)
  })

  it('shows in the diff of two shapes that it waits for something else', async () => {
    const { diffShapes } = await import('../../src/graph/index.ts')
    const old = base.step('a', { run }).sleep('b', { for: 1 }).record.shape
    const now = base
      .sleep('a', { for: 1 })
      .waitForSignal('b')
      .approval('c')
      .poll('d', { every: 1, until: run }).record.shape
    expect(diffShapes(old, now)).toEqual([
      '~ a: sleeps, was works',
      '~ b: waits for a signal, was sleeps',
      '+ step c (waits for an approval; depends on nothing)',
      '+ step d (polls; depends on nothing)',
    ])
  })

  it.each<[string, () => unknown, string]>([
    ['a sleep without a length', () => base.sleep('a', {} as never), 'a sleep must have either for, like'],
    [
      'a sleep with two',
      () => base.sleep('a', { for: '1d', until: new Date() } as never),
      'Workflow "w", step "a": for and until are both given. Keep one',
    ],
    [
      'a negative sleep',
      () => base.sleep('a', { for: -1 }),
      'for is -1, and must be a duration from 0 to 3650d',
    ],
    [
      'a sleep of ages',
      () => base.sleep('a', { for: '9999d' }),
      'for is "9999d", and must be a duration from 0 to 3650d',
    ],
    ['a sleep of no duration', () => base.sleep('a', { for: '3 days' as never }), 'must be a duration'],
    [
      'a sleep until no date',
      () => base.sleep('a', { until: 'tomorrow' }),
      'until is "tomorrow", and must be an instant from year 1 to 9999',
    ],
    [
      'a sleep until a time without its offset',
      () => base.sleep('a', { until: '2030-01-01T00:00' }),
      'a string with an offset',
    ],
    ['an option of steps', () => base.sleep('a', { for: 1, retry: false } as never), 'no option "retry"'],
    ['no options', () => base.sleep('a', undefined as never), 'the sleep is undefined'],
    ['an unknown dependency', () => base.sleep('a', { dependsOn: ['b'] as never, for: 1 }), 'depends on "b"'],
    ['a doubled name', () => base.step('a', { run }).sleep('a' as never, { for: 1 }), 'already defined'],
    [
      'a timeout of no time',
      () => base.waitForSignal('a', { timeout: 0 }),
      'timeout is 0, and must be a duration greater than 0',
    ],
    [
      'onTimeout without a timeout',
      () => base.waitForSignal('a', { onTimeout: 'fail' } as never),
      'onTimeout is given, but there is no timeout.',
    ],
    [
      'an onTimeout of nothing known',
      () => base.approval('a', { timeout: 1, onTimeout: 'skip' as never }),
      'onTimeout is "skip", and must be \'fail\', { output: … }',
    ],
    [
      'no schema',
      () => base.waitForSignal('a', { schema: {} as never }),
      'step "a": schema is an object, which is not',
    ],
    [
      'a poll without every',
      () => base.poll('a', { until: run } as never),
      "a poll must have every, like '1m'.",
    ],
    [
      'a poll every no time',
      () => base.poll('a', { every: 0, until: run }),
      'every is 0, and must be a duration greater than 0',
    ],
    [
      'a poll without a check',
      () => base.poll('a', { every: 1 } as never),
      'until is undefined, and must be a',
    ],
    [
      'a poll with null',
      () => base.poll('a', { every: 1, until: null as never }),
      'until is null, and must be',
    ],
    [
      'a deadline of no time',
      () => define('w', { version: 1, deadline: 0 }),
      'deadline is 0, and must be a duration greater than 0',
    ],
    [
      'a deadline of nonsense',
      () => define('w', { version: 1, deadline: 'x' as never }),
      'deadline is "x", and must be a duration',
    ],
    [
      'a window of nonsense',
      () => define('w', { version: 1, retry: { for: -5 } }),
      'for is -5, and must be a duration',
    ],
  ])('is refused with %s', (_, make, message) => {
    expect(make).toThrow(DefinitionError)
    expect(make).toThrow(message)
  })

  it.each<[string, object, string]>([
    ['two kinds', { sleep: '1d', signal: true }, 'sleep and signal are both given. A step does one thing'],
    ['a handler too', { sleep: '1d', handler: 'x' }, 'sleep and handler are both given.'],
    ['a signal that is false', { signal: false }, 'signal is false, and must be true.'],
    ['an unknown option', { sleep: '1d', timeout: '1d' }, 'the sleep has no option "timeout".'],
    ['a function', { sleep: () => '1d' }, 'sleep is a function, and data has none. Use define() for it.'],
    [
      'an unknown handler',
      { poll: 'chekc', every: 1 },
      'poll is "chekc", and must be the name of a handler. Did you mean "check"?',
    ],
  ])('as data is refused with %s', (_, step, message) => {
    const make = () => defineGraph('w', { steps: { a: step as never }, dag: {} }, { check: run })
    expect(make).toThrow(DefinitionError)
    expect(make).toThrow(message)
  })

  it('inherits retry.for, which is then the only limit of its attempts', () => {
    const definition = define('w', { version: 1, retry: { for: '1h' } })
      .step('a', { run })
      .step('b', { run, retry: { attempts: 3 } })
      .step('c', { run, retry: { for: '1m', retries: 1 } })
    expect(definition.steps.map(({ retry }) => [retry.attempts, retry.forMs])).toEqual([
      [10_000, 3_600_000],
      [3, 3_600_000],
      [2, 60_000],
    ])
  })
})
