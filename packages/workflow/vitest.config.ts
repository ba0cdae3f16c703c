import { defineConfig } from 'vitest/config'
import { limits, sharedProcesses } from '../../vitest.limits.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    ...limits,
    ...sharedProcesses,
    typecheck: {
      enabled: true,
      include: ['test/types/**/*.test-d.ts'],
      tsconfig: 'test/tsconfig.json',
    },
  },
})
