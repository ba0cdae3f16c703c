import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { limits, sharedProcesses } from '../vitest.limits.ts'

const source = (path: string) => fileURLToPath(new URL(`../packages/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@belay\/workflow$/, replacement: source('workflow/src/index.ts') },
      { find: /^@belay\/workflow\/adapter$/, replacement: source('workflow/src/adapter/index.ts') },
      { find: /^@belay\/testing$/, replacement: source('testing/src/index.ts') },
      { find: /^@belay\/workflow-postgres$/, replacement: source('workflow-postgres/src/index.ts') },
      { find: /^@belay\/workflow-postgres\/pglite$/, replacement: source('workflow-postgres/src/pglite.ts') },
    ],
  },
  test: {
    name: 'examples',
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/global-setup.ts',
    ...limits,
    ...sharedProcesses,
  },
})
