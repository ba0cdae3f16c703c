import { defineConfig } from 'vitest/config'

export default defineConfig({
  // npm fetches the packages' dependencies from its registry the first time; from its cache it takes a few seconds.
  test: { name: 'packed', include: ['test/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 120_000 },
})
