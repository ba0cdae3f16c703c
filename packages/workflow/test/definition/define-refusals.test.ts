import { describe, expect, it } from 'vitest'
import { define } from '../../src/definition/index.ts'
import { DefinitionError } from '../../src/errors.ts'

const run = () => null
/** A definition as plain JavaScript sees it. */
type Untyped = {
  step(name: unknown, options?: unknown): Untyped
  readonly graph: { names: readonly string[] }
}
const untyped = define('w', { version: 1 }) as unknown as Untyped

describe('mistakes that only TypeScript would find are refused at run time', () => {
  it.each<[string, () => unknown, string]>([
    [
      'a workflow name',
      () => define('my workflow', { version: 1 }),
      'Workflow name "my workflow" is not valid. A name must begin',
    ],
    [
      'a missing version',
      () => define('w', {} as never),
      'Workflow "w": version is undefined, and must be a whole number',
    ],
    [
      'version 0',
      () => define('w', { version: 0 }),
      'version is 0, and must be a whole number from 1 to 2147483647.',
    ],
    ['version 1.5', () => define('w', { version: 1.5 }), 'version is 1.5'],
    [
      'missing options',
      () => define('w', undefined as never),
      'the definition is undefined, and must be an object with version',
    ],
    [
      'an unknown option',
      () => define('w', { version: 1, timeuot: 1 } as never),
      'the definition has no option "timeuot". Did you mean "timeout"?',
    ],
    [
      'no schema',
      () => define('w', { version: 1, input: {} as never }),
      'Workflow "w": input is an object, which is not a Standard Schema.',
    ],
    [
      'a doubled step',
      () => untyped.step('a', { run }).step('a', { run }),
      'Workflow "w", step "a": a step with this name is already defined.',
    ],
    ['a step name', () => untyped.step('a b', { run }), 'Workflow "w": step name "a b" is not valid.'],
    [
      'an unknown dependency',
      () => untyped.step('reserve', { run }).step('b', { dependsOn: ['resreve'], run }),
      'Workflow "w", step "b": it depends on "resreve", which is not defined. Did you mean "reserve"? Defined steps: reserve.',
    ],
    [
      'a dependency in front of all steps',
      () => untyped.step('b', { dependsOn: ['a'], run }),
      'it depends on "a", which is not defined. No step is defined before it.',
    ],
    [
      'a dependency on itself',
      () => untyped.step('b', { dependsOn: ['b'], run }),
      'step "b": it depends on itself.',
    ],
    [
      'a doubled dependency',
      () => untyped.step('a', { run }).step('b', { dependsOn: ['a', 'a'], run }),
      'it depends on "a" twice.',
    ],
    [
      'a dependency that is no array',
      () => untyped.step('a', { run }).step('b', { dependsOn: 'a', run }),
      'dependsOn is "a", and must be an array of names of steps.',
    ],
    [
      'missing step options',
      () => untyped.step('a'),
      'the step is undefined, and must be an object with dependsOn, run',
    ],
    [
      'an unknown step option',
      () => untyped.step('a', { run, retires: 1 }),
      'the step has no option "retires". Did you mean "retry"?',
    ],
    [
      'a missing handler',
      () => untyped.step('a', {}),
      'Workflow "w", step "a": run is undefined, and must be a function.',
    ],
    [
      'a compensation that is no function',
      () => untyped.step('a', { run, compensate: 'undo' }),
      'compensate is "undo", and must be an object with run',
    ],
    [
      'a compensation without a function',
      () => untyped.step('a', { run, compensate: { timeout: 1 } }),
      'run of compensate is undefined',
    ],
    [
      'compensateOn without compensate',
      () => untyped.step('a', { run, compensateOn: 'started' }),
      'compensateOn is given, but there is no compensate.',
    ],
    [
      'an unknown compensateOn',
      () => untyped.step('a', { run, compensate: run, compensateOn: 'start' }),
      `compensateOn is "start", and must be one of 'completed', 'started'. Did you mean "started"?`,
    ],
    [
      'a retry of true',
      () => untyped.step('a', { run, retry: true }),
      'retry is true, and must be an object with attempts',
    ],
    [
      'an unknown retry option',
      () => untyped.step('a', { run, retry: { atempts: 1 } }),
      'retry has no option "atempts". Did you mean "attempts"?',
    ],
    [
      'no attempts',
      () => untyped.step('a', { run, retry: { attempts: 0 } }),
      'attempts is 0, and must be a whole number from 1 to 10000.',
    ],
    [
      'attempts that are no number',
      () => untyped.step('a', { run, retry: { attempts: '3' } }),
      'attempts is "3", and must be',
    ],
    [
      'attempts and retries',
      () => untyped.step('a', { run, retry: { attempts: 3, retries: 2 } }),
      'attempts and retries are both given.',
    ],
    [
      'a backoff',
      () => untyped.step('a', { run, retry: { backoff: 'exponentail' } }),
      'Did you mean "exponential"?',
    ],
    [
      'a jitter',
      () => untyped.step('a', { run, retry: { jitter: 1 } }),
      'jitter is 1, and must be true or false.',
    ],
    [
      'a max below initial',
      () => untyped.step('a', { run, retry: { initial: '10s', max: '5s' } }),
      'max is 5s, less than initial (10s).',
    ],
    [
      'a duration',
      () => untyped.step('a', { run, timeout: '5 parsecs' }),
      'Workflow "w", step "a": timeout is "5 parsecs", and must be a duration greater than 0',
    ],
    [
      'a timeout of nothing',
      () => untyped.step('a', { run, timeout: 0 }),
      'timeout is 0, and must be a duration greater than 0',
    ],
    [
      'an endless timeout',
      () => untyped.step('a', { run, timeout: '9999d' }),
      'timeout is "9999d", and must be a duration greater than 0 and at most 3650d',
    ],
    [
      'a number of losses',
      () => untyped.step('a', { run, lossesMax: -1 }),
      'lossesMax is -1, and must be a whole number from 0',
    ],
  ])('%s', (_, act, message) => {
    expect(act).toThrow(DefinitionError)
    expect(act).toThrow(message)
  })

  it('and leaves the definition as it was', () => {
    const definition = untyped.step('a', { run })
    expect(() => definition.step('b', { dependsOn: ['x'], run } as never)).toThrow()
    expect(definition.step('b', { run }).graph.names).toEqual(['a', 'b'])
  })
})
