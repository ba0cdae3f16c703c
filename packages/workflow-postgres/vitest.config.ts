import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { limits, sharedProcesses } from '../../vitest.limits.ts'

const source = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@belay\/workflow$/, replacement: source('workflow/src/index.ts') },
      { find: /^@belay\/workflow\/adapter$/, replacement: source('workflow/src/adapter/index.ts') },
      { find: /^@belay\/workflow\/store$/, replacement: source('workflow/src/store/index.ts') },
      { find: /^@belay\/testing$/, replacement: source('testing/src/index.ts') },
      { find: /^@belay\/testing\/conformance$/, replacement: source('testing/src/conformance/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/servers.ts'],
    ...limits,
    ...sharedProcesses,
  },
})
