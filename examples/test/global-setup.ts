import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Some tests start the examples as a newcomer does, as processes: those run what is built, so build what is written. */
export default function setup(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const compiler = fileURLToPath(import.meta.resolve('typescript/package.json')).replace(
    'package.json',
    'bin/tsc',
  )
  execFileSync(process.execPath, [compiler, '-b', 'examples'], { cwd: root, stdio: 'inherit' })
}
