import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { configDefaults } from 'vitest/config'

/**
 * When a test or a hook counts as hung. One limit for all of them, far beyond what the slowest takes on a busy machine: how long something takes
 * is measured by the benchmark, and a test that fails because of another process's load says nothing.
 */
const HUNG_MS = 180_000

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const proofs = JSON.parse(readFileSync(at('scripts/proofs.json'), 'utf8')) as Record<
  string,
  { readonly files: readonly string[] }
>

/** `npm test` leaves out what proves by quantity. */
const leftOut: readonly string[] =
  process.env['WITHOUT_PROOFS'] === undefined
    ? []
    : Object.values(proofs).flatMap(({ files }) => files.map((file) => `${at(file)}{,/**,*}`))

export const limits = {
  exclude: [...configDefaults.exclude, ...leftOut] as string[],
  testTimeout: HUNG_MS,
  hookTimeout: HUNG_MS,
  // Shorter, so that a poll that hangs fails by its own name and not by that of its test.
  expect: { poll: { timeout: HUNG_MS / 3 } },
} as const

/**
 * For projects whose tests keep everything they need to themselves: one process runs many files. A process for each file takes longer to
 * load the code than most of these files take to run.
 */
export const sharedProcesses = { isolate: false } as const
