import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { newEngine } from '../../vitest.engine.ts'
import { limits, sharedProcesses } from '../../vitest.limits.ts'

const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  plugins: newEngine,
  resolve: {
    // The longer name first: an alias also matches what begins with it.
    alias: [
      { find: '@belay/workflow/adapter', replacement: source('../workflow/src/adapter/index.ts') },
      { find: '@belay/workflow/store', replacement: source('../workflow/src/store/index.ts') },
      { find: '@belay/workflow', replacement: source('../workflow/src/index.ts') },
    ],
  },
  test: { name: 'testing', include: ['test/**/*.test.ts'], ...limits, ...sharedProcesses },
})
