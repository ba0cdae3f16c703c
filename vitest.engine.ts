import { fileURLToPath } from 'node:url'
import type { Plugin } from 'vitest/config'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Files of today's engine, and those that stand for them on the new one. */
const STANDS_FOR: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'packages/workflow/src/engine/worker/worker.ts': 'packages/workflow/src/engine/owned/worker.ts',
    'packages/workflow/src/engine/control/control.ts': 'packages/workflow/src/engine/owned/control.ts',
    'packages/testing/src/memory/adapter.ts': 'packages/testing/test/parity/memory.ts',
  }).map(([today, anew]) => [at(today), at(anew)]),
)

/** With `BELAY_ENGINE=owner`, test files that speak the public API run on the new engine: see `npm run parity`. */
export const newEngine: Plugin[] =
  process.env['BELAY_ENGINE'] === 'owner' ? [{ name: 'new-engine', enforce: 'pre', resolveId }] : []

function resolveId(this: unknown, source: string, importer: string | undefined): string | undefined {
  if (importer === undefined || !source.startsWith('.')) return undefined
  const found = fileURLToPath(new URL(source, `file://${importer}`))
  const anew = STANDS_FOR.get(found)
  // What stands for a file may build on it.
  return anew === importer ? undefined : anew
}
