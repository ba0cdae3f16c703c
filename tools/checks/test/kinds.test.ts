import { expect, it } from 'vitest'
import { faultsOf } from './lint-tree.ts'

const MACHINE = 'packages/workflow/src/machine'

it.each([
  ['of a unit', "export const isMap = (u) => u.kind.name === 'map'\n"],
  ['of a spec', "export const isMap = (u) => u.spec.of.name === 'map'\n"],
  ['of a kind', "export const isMap = ({ kind }) => kind.name === 'map'\n"],
  ['of a kind, in a switch', 'export const nameOf = ({ of }) => {\n  switch (of.name) {\n  }\n}\n'],
])('a rule of the run machine that asks for the name %s is refused', (_, text) => {
  const path = `${MACHINE}/rule.ts`

  expect(faultsOf({ [path]: text })).toContainEqual([path, 'plugin'])
})

it('a kind may ask for a name, and the name of a unit or a step is nobody’s secret', () => {
  const files = {
    [`${MACHINE}/kinds/one.ts`]: "export const isMap = (u) => u.kind.name === 'map'\n",
    [`${MACHINE}/rule.ts`]: 'export const nameOf = (u) => u.spec.name\n',
    'packages/workflow/src/engine/other.ts': 'export const nameOf = (wait) => wait.of.name\n',
  }

  expect(faultsOf(files)).toEqual([])
})
