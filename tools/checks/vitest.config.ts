import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    name: 'checks',
    include: ['test/**/*.test.ts'],
    // Several start a linter or a compiler, which a busy machine slows down.
    testTimeout: 60_000,
  },
})
