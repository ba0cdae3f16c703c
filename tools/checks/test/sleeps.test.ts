import { expect, it } from 'vitest'
import { faultsOf } from './lint-tree.ts'

const SLEEP = 'await new Promise((resolve) => setTimeout(resolve, 50))\n'

it.each([
  ['setTimeout', SLEEP, 'noRestrictedGlobals'],
  [
    'an import',
    "import { setTimeout } from 'node:timers/promises'\nawait setTimeout(50)\n",
    'noRestrictedImports',
  ],
])('a test that sleeps is refused: %s', (_, text, rule) => {
  const path = 'packages/some/test/sleepy.test.ts'

  expect(faultsOf({ [path]: text })).toEqual([[path, rule]])
})

it('a test that says why real time must pass may sleep', () => {
  const reason = '// biome-ignore lint/style/noRestrictedGlobals: past the limit in the server.\n'

  expect(faultsOf({ 'packages/some/test/slow.test.ts': reason + SLEEP })).toEqual([])
})

it('sources may set timers', () => {
  expect(faultsOf({ 'packages/some/src/pause.ts': SLEEP })).toEqual([])
})
