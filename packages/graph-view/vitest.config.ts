import { defineConfig } from 'vitest/config'
import { limits, sharedProcesses } from '../../vitest.limits.ts'

export default defineConfig({ test: { include: ['test/**/*.test.ts'], ...sharedProcesses, ...limits } })
