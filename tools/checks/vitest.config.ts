import { defineConfig } from 'vitest/config'
import { limits, sharedProcesses } from '../../vitest.limits.ts'

export default defineConfig({
  test: { name: 'checks', include: ['test/**/*.test.ts'], ...limits, ...sharedProcesses },
})
