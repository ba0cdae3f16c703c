import { describe, expect, it } from 'vitest'
import { define, defineGraph } from '../../src/definition/index.ts'
import { DefinitionError, type DefinitionProblem } from '../../src/errors.ts'

const handler = 'work'
const handlers = { work: () => 1 }

function errorOf(act: () => unknown): DefinitionError {
  try {
    act()
  } catch (error) {
    if (error instanceof DefinitionError) return error
    throw error
  }
  throw new Error('It was taken.')
}

const problemsOf = (steps: object, dag: object = {}): readonly DefinitionProblem[] =>
  errorOf(() => defineGraph('w', { steps, dag } as never, handlers)).problems

describe('the problems of a definition', () => {
  it('are reported all at once, each with its kind, its step, the wrong name and a valid one', () => {
    const error = errorOf(() =>
      defineGraph(
        'w',
        {
          steps: {
            '@scope/a': { handler },
            a: { handler },
            b: { handler: 'wrok' },
            c: { handler, retrys: 2 },
          },
          dag: { c: ['aa', 'b', 'b', 'c'], bb: ['a'] },
        } as never,
        handlers,
      ),
    )

    expect(error.code).toBe('invalid_definition')
    expect(error.problems).toEqual([
      {
        kind: 'invalid_name',
        message: expect.stringContaining('step name "@scope/a" is not valid.'),
        name: '@scope/a',
        suggestion: 'scope_a',
      },
      {
        kind: 'unknown_step',
        message: expect.stringContaining('dag has an entry for "bb"'),
        name: 'bb',
        suggestion: 'b',
      },
      {
        kind: 'unknown_handler',
        message: expect.stringContaining('must be the name of a handler. Did you mean "work"?'),
        step: 'b',
        name: 'wrok',
        suggestion: 'work',
      },
      { kind: 'other', message: expect.stringContaining('no option "retrys"'), step: 'c' },
      {
        kind: 'unknown_dependency',
        message: expect.stringContaining('depends on "aa", which is not defined. Did you mean "a"?'),
        step: 'c',
        name: 'aa',
        suggestion: 'a',
      },
      {
        kind: 'duplicate_dependency',
        message: expect.stringContaining('depends on "b" twice'),
        step: 'c',
        name: 'b',
      },
      {
        kind: 'cycle',
        message: expect.stringContaining('depends on itself'),
        step: 'c',
        name: 'c',
        cycle: ['c'],
      },
    ])
    expect(error.message).toMatch(/^Workflow "w" has 7 problems:\n- step name "@scope\/a" is not valid\./)
    expect(error.message).toMatch(/\n- and 2 more; the error's "problems" holds them all\.$/)
  })

  it('of a graph with a thousand bad names fit a short message, and their suggestions make it valid', () => {
    const names = Array.from({ length: 1_128 }, (_, index) =>
      index % 2 === 0 ? `node_modules/@p/${index >> 2}` : `node_modules/p/${index >> 2}`,
    )
    const unique = [...new Set(names)]
    const error = errorOf(() =>
      defineGraph('lockfile', {
        steps: Object.fromEntries(unique.map((name) => [name, { handler }])),
        dag: {},
      }),
    )

    expect(error.problems.map(({ name }) => name)).toEqual(unique)
    expect(error.message.length).toBeLessThan(2_000)
    const suggestions = error.problems.map(({ suggestion }) => suggestion!)
    const mended = defineGraph('lockfile', {
      steps: Object.fromEntries(suggestions.map((name) => [name, { handler }])),
      dag: {},
    })
    expect(mended.steps).toHaveLength(unique.length)
  })

  it('hold the whole path of a cycle', () => {
    const names = Array.from({ length: 50 }, (_, index) => `s${String(index).padStart(2, '0')}`)
    const steps = Object.fromEntries(names.map((name) => [name, { handler }]))
    const dag = Object.fromEntries(names.map((name, index) => [name, [names[(index + 1) % 50]]]))

    const [problem, ...others] = problemsOf(steps, dag)
    expect(others).toEqual([])
    expect(problem).toMatchObject({ kind: 'cycle', cycle: names })
  })

  it('of one step in code are also reported all at once', () => {
    const base = define('w', { version: 1 }).step('a', { run: () => 1 })
    const { problems } = errorOf(() => base.step('b', { dependsOn: ['a', 'a', 'z'] as never, run: () => 2 }))
    expect(problems.map(({ kind, name }) => [kind, name])).toEqual([
      ['duplicate_dependency', 'a'],
      ['unknown_dependency', 'z'],
    ])
  })

  it('suggest a valid name for a workflow', () => {
    expect(errorOf(() => define('fulfil order' as never, { version: 1 }))).toMatchObject({
      message: expect.stringContaining('"fulfil_order" would be valid.'),
      problems: [{ kind: 'invalid_name', name: 'fulfil order', suggestion: 'fulfil_order' }],
    })
  })

  it.each(['dependsOn', 'needs', 'depends_on'])('point from %s of a step to dag', (key) => {
    expect(
      problemsOf({ a: { handler }, b: { handler, [key]: ['a'] }, c: { sleep: '1s', [key]: ['a'] } }),
    ).toEqual(
      ['b', 'c'].map((step) => ({
        kind: 'other',
        step,
        message: `Workflow "w", step "${step}": the step has no option "${key}". The dependencies of all steps are in dag: {"dag":{"${step}":["a"]}} makes it depend on "a".`,
      })),
    )
  })

  it.each<[string, () => unknown]>([
    ['steps', () => defineGraph('w', { steps: { a: { handler }, __proto__: { handler } }, dag: {} })],
    ['dag', () => defineGraph('w', { steps: { a: { handler } }, dag: { __proto__: ['a'] } } as never)],
    [
      'handlers',
      () =>
        defineGraph('w', { steps: { a: { handler } }, dag: {} }, {
          ...handlers,
          __proto__: () => 1,
        } as never),
    ],
  ])('include a key __proto__ in a literal of %s, whose entry is lost', (option, act) => {
    expect(errorOf(act)).toMatchObject({
      message: expect.stringContaining(`${option} was written with a key __proto__`),
      problems: [{ kind: 'invalid_name', name: '__proto__' }],
    })
  })

  it('leave instances and objects without a prototype alone', () => {
    class Handlers {
      readonly work = () => 1
    }
    const steps = Object.assign(Object.create(null), { a: { handler } })
    expect(defineGraph('w', { steps, dag: {} }, { ...new Handlers() }).runnable).toBe(true)
    expect(defineGraph('w', { steps, dag: {} }, new Handlers() as never).runnable).toBe(true)
  })
})
