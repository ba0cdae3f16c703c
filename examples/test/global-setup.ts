import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Some tests start the examples as processes, like a newcomer. Those run the built files, so build them first. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const compiler = createRequire(import.meta.url).resolve('typescript/package.json')
  execFileSync(
    process.execPath,
    [join(dirname(compiler), 'bin', 'tsc'), '-b', 'examples', 'examples/frameworks'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  )
}
