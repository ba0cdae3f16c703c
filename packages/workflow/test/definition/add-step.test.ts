import { expect, it } from 'vitest'
import { addStep, define, type Workflow } from '../../src/definition/index.ts'

function withAudit<Name extends string, Input, Outputs, Received, Sent>(
  workflow: Workflow<Name, Input, Outputs, Received, Sent>,
  after: string,
) {
  return addStep(workflow, 'audit', { dependsOn: [after], run: () => 'audited' })
}

const base = define('w', { version: 1 }).step('a', { run: () => 1 })

it('a helper adds a step to any workflow', () => {
  const audited = withAudit(base, 'a').step('last', { dependsOn: ['audit'], run: ({ deps }) => deps.audit })
  expect(audited.graph.names).toEqual(['a', 'audit', 'last'])
  expect(base.graph.names).toEqual(['a'])
})

it('a helper gets errors at run time that the compiler cannot find', () => {
  expect(() => withAudit(base, 'b')).toThrow('step "audit": it depends on "b", which is not defined.')
  expect(() => withAudit(withAudit(base, 'a'), 'a')).toThrow('a step with this name is already defined')
})
