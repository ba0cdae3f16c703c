import { defineConfig } from 'vitest/config'
import { limits } from '../vitest.limits.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/setup/served.ts'],
    // Each page has four threads of its own, and a lease of 3 seconds to keep.
    fileParallelism: false,
    ...limits,
  },
})
