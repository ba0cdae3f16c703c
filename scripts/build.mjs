import './require-node.mjs'
import { delimiter } from 'node:path'
import { isMain } from './main-module.mjs'
import { pruneOutputs } from './prune-outputs.mjs'
import { at, root } from './root.mjs'
import { run } from './run.mjs'

/** Builds every package that changed; ends the process with turbo's own report when one doesn't compile. */
export async function build() {
  /** @type {string[]} */
  const lines = []
  const code = await run(at('node_modules/.bin/turbo'), ['run', 'build', '--output-logs=errors-only'], {
    cwd: root,
    env: buildEnvironment(),
    onLine: (line) => lines.push(line),
  })
  // After turbo, which restores outputs from its cache as they once were.
  if (code === 0) return pruneOutputs()
  console.error(lines.join('\n'))
  console.error('\nThe build failed; see above.')
  process.exit(code)
}

function buildEnvironment() {
  return {
    ...process.env,
    // turbo starts each package's script through pnpm, which a newcomer has only here.
    PATH: [at('node_modules/.bin'), process.env['PATH']].join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
  }
}

if (isMain(import.meta.url)) await build()
