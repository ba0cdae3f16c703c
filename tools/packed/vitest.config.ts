import { defineConfig } from 'vitest/config'
import { limits } from '../../vitest.limits.ts'

export default defineConfig({
  // The first time, npm fetches the packages' dependencies from its registry. From its cache it takes a few seconds.
  test: { name: 'packed', include: ['test/**/*.test.ts'], ...limits },
})
