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

it.each([
  ['no limit', 'await vi.waitFor(() => isThere())', true],
  ['a limit', 'await vi.waitFor(() => isThere(), 10_000)', false],
  ['limits', 'await vi.waitFor(() => isThere(), { timeout: 10_000 })', false],
])(
  'a wait that gives up after one second, because it was told no limit, is refused: %s',
  (_, wait, isRefused) => {
    const path = 'packages/some/test/hasty.test.ts'
    const text = `import { vi } from 'vitest'\nconst isThere = () => true\n${wait}\n`

    expect(faultsOf({ [path]: text })).toEqual(isRefused ? [[path, 'plugin']] : [])
  },
)
