import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Every folder that has tests says how they run, in a config of its own.
    projects: ['{packages,tools}/*/vitest.config.ts', '{examples,bench}/vitest.config.ts'],
  },
})
