import { expect, it } from 'vitest'
import { faultsOf } from './lint-tree.ts'

const ONE = { 'packages/some/src/one.ts': 'export const one = 1\n' }
const two = (module: string) => ({ ...ONE, 'packages/some/src/two.ts': `export { one } from '${module}'\n` })

it.each(['./one', './one.js'])('an import of %s, which is one.ts, is refused', (module) => {
  expect(faultsOf(two(module))).toEqual([['packages/some/src/two.ts', 'useImportExtensions']])
})

it('an import of ./one.ts is not refused', () => {
  expect(faultsOf(two('./one.ts'))).toEqual([])
})
