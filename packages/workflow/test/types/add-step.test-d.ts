import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { addStep, define, type OutputsOf, type Workflow } from '../../src/definition/index.ts'

declare const flag: boolean
const base = define('w', { version: 1, input: z.object({ id: z.string() }) })
  .step('a', { run: () => 1 })
  .step('b', { run: () => 'x' })

function withAudit<Name extends string, Input, Outputs, Received, Sent>(
  workflow: Workflow<Name, Input, Outputs, Received, Sent>,
  after: string,
) {
  return addStep(workflow, 'audit', {
    dependsOn: [after],
    run: ({ runId, deps }) => {
      expectTypeOf(deps[after]).toBeUnknown()
      return { runId }
    },
    compensate: ({ output }) => output.runId,
  })
}

describe('dependencies computed at run time', () => {
  it('have an output that may be missing, if only some of the lists name the step', () => {
    base.step('c', {
      dependsOn: flag ? ['a', 'b'] : ['b'],
      run: ({ deps }) => {
        expectTypeOf(deps.a).toEqualTypeOf<number | undefined>()
        expectTypeOf(deps.b).toEqualTypeOf<string>()
      },
    })
    base.step('c', {
      dependsOn: flag ? ['a'] : [],
      run: ({ deps }) => expectTypeOf(deps.a).toEqualTypeOf<number | undefined>(),
    })
  })

  it('may be a list in a loop', () => {
    let chain: Workflow<'w', unknown, Readonly<Record<string, unknown>>> = define('w', { version: 1 })
    let previous = ''
    for (let index = 0; index < 3; index += 1) {
      chain = chain.step(`s${index}`, { dependsOn: index > 0 ? [previous] : [], run: () => index })
      previous = `s${index}`
    }
    expectTypeOf(chain.name).toEqualTypeOf<'w'>()
  })
})

describe('a helper that adds a step to any workflow', () => {
  it('keeps the types of the workflow, and adds its own output', () => {
    const audited = withAudit(base, 'a')
    expectTypeOf<OutputsOf<typeof audited>['audit']>().toEqualTypeOf<{ runId: string }>()
    expectTypeOf<OutputsOf<typeof audited>['a']>().toEqualTypeOf<number>()
    audited.step('last', {
      dependsOn: ['audit', 'b'],
      run: ({ deps, input }) => deps.audit.runId + deps.b + input.id,
    })
  })
})
