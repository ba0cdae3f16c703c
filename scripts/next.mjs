import './require-node.mjs'
import { installApart } from './install-apart.mjs'
import { at } from './root.mjs'
import { run } from './run.mjs'
import { setUp } from './setup.mjs'

const [command = 'test', ...args] = process.argv.slice(2)
if (!['test', 'dev', 'build', 'start'].includes(command)) {
  console.error(`npm run next: "${command}" is none of test, dev, build and start.`)
  process.exit(2)
}
await setUp()
await installApart('examples/next', 'Next.js, about 350 MB')
// The test builds the application, and starts it as a person would.
const program =
  command === 'test'
    ? [at('node_modules/vitest/vitest.mjs'), 'run', '--root', at('examples/next'), ...args]
    : [at('examples/next/node_modules/next/dist/bin/next'), command, ...args]
process.exitCode = await run(process.execPath, program, {
  cwd: at('examples/next'),
  env: {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    // Next.js leaves signals to the application, which closes its engine.
    ...(command === 'start' ? { NEXT_MANUAL_SIG_HANDLE: 'true' } : {}),
  },
})
