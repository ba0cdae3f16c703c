import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './vitest.sequencer.ts'

export default defineConfig({
  test: {
    // Every folder that has tests says how they run, in a config of its own.
    projects: [
      '{packages,tools}/*/vitest.config.ts',
      '{examples,bench,playground}/vitest.config.ts',
      // Installs what npm would deliver, in empty projects: `npm run packed`.
      '!tools/packed/vitest.config.ts',
    ],
    // Three at least, whatever the machine: a test file that waits for a lock, a timeout or a process leaves the processor to another.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // What engines without a logger say of failing handlers: many tests make handlers fail. Tests of the log give a logger, or look at the console.
    onConsoleLog: (log) => !log.startsWith('[belay] '),
    sequence: { sequencer: LongestFirst },
  },
})
