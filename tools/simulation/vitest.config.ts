import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const source = (path: string) => fileURLToPath(new URL(`../../packages/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^@belay\/workflow$/, replacement: source('workflow/src/index.ts') },
      { find: /^@belay\/workflow\/adapter$/, replacement: source('workflow/src/adapter/index.ts') },
      { find: /^@belay\/testing$/, replacement: source('testing/src/index.ts') },
      { find: /^@belay\/testing\/simulation$/, replacement: source('testing/src/simulation/index.ts') },
      { find: /^@belay\/workflow-postgres$/, replacement: source('workflow-postgres/src/index.ts') },
      { find: /^@belay\/workflow-postgres\/pglite$/, replacement: source('workflow-postgres/src/pglite.ts') },
    ],
  },
  // Each world is hundreds of statements, one after the other: the time is work, and grows with the machine's other work.
  test: { name: 'simulation', include: ['test/**/*.test.ts'], testTimeout: 120_000 },
})
