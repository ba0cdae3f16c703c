import { delimiter } from 'node:path'
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
  if (code === 0) return
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
